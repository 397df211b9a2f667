import type { EnvironmentName } from '../environment.ts';
import type { ProviderId } from './providers.ts';

/** The variables with each provider's base URL and the ARN of its API key's secret. */
export const PROVIDER_ENVIRONMENT: Record<
  ProviderId,
  { baseUrl: EnvironmentName; secretArn: EnvironmentName }
> = {
  modelark: { baseUrl: 'MODELARK_BASE_URL', secretArn: 'MODELARK_SECRET_ARN' },
  modelstudio: { baseUrl: 'MODELSTUDIO_BASE_URL', secretArn: 'MODELSTUDIO_SECRET_ARN' },
};
