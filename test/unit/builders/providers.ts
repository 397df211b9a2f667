import { jest } from '@jest/globals';
import type {
  Provider,
  ProviderAnswer,
  ProviderCall,
  ProviderPlan,
  ProviderRoute,
} from '../../../core/provider-calls/providers.ts';

/** The `index`-th call of a plan. */
export const aCall = (index: number): ProviderCall => ({ path: `/${index}`, headers: {}, body: { index } });

/** The answer of a call that is done, with outputs at these URLs. */
export const aDone = (...urls: string[]): ProviderAnswer & { kind: 'done' } => ({
  kind: 'done',
  outputs: urls.map((url) => ({ url })),
});

/** A provider with a fixed plan and the test's answers. It does not call back unless the test mocks `callsBack`. */
export const aProvider = (
  mode: ProviderPlan['mode'],
  calls: number,
  submit: (call: ProviderCall, signal: AbortSignal) => Promise<ProviderAnswer> = async () => aDone('a'),
  query: (taskId: string, signal: AbortSignal) => Promise<ProviderAnswer> = async () => ({ kind: 'waiting' }),
) => {
  const plan: ProviderPlan = { mode, calls: Array.from({ length: calls }, (_, index) => aCall(index)) };
  return {
    id: 'modelark',
    baseUrl: 'https://modelark.example/api/v3',
    callsBack: jest.fn<Provider['callsBack']>(() => false),
    plan: jest.fn<Provider['plan']>(() => plan),
    submit: jest.fn<Provider['submit']>(submit),
    query: jest.fn<Provider['query']>(query),
    cancel: jest.fn<Provider['cancel']>(async () => ({ kind: 'cancelled' })),
  } satisfies Provider;
};

/** Routes every model to this provider. */
export const leadingTo =
  (provider: Provider) =>
  async (model: string): Promise<ProviderRoute> => ({ provider, upstreamModel: `upstream of ${model}` });
