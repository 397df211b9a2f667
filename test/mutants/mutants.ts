import { ADMISSION } from './areas/admission.ts';
import { BUDGETS } from './areas/budgets.ts';
import { CLIPS } from './areas/clips.ts';
import { DELETION } from './areas/deletion.ts';
import { EXPIRY } from './areas/expiry.ts';
import { MONEY } from './areas/money.ts';
import { OPENAI } from './areas/openai.ts';
import { PROVIDERS } from './areas/providers.ts';
import { REFUSALS } from './areas/refusals.ts';
import { RESTORE } from './areas/restore.ts';
import { RETRIES } from './areas/retries.ts';
import { ROUTES } from './areas/routes.ts';
import { STATE } from './areas/state.ts';
import { STORING } from './areas/storing.ts';
import { UPLOADS } from './areas/uploads.ts';
import { USAGE } from './areas/usage.ts';
import { WAITING } from './areas/waiting.ts';
import { WEBHOOKS } from './areas/webhooks.ts';
import type { Mutant } from './mutant.ts';

/** Every bug that the tests must notice. None is equivalent to the code: each breaks a promise of the service. */
export const MUTANTS: readonly Mutant[] = [
  ...MONEY,
  ...STATE,
  ...DELETION,
  ...RETRIES,
  ...WAITING,
  ...STORING,
  ...WEBHOOKS,
  ...EXPIRY,
  ...ADMISSION,
  ...ROUTES,
  ...REFUSALS,
  ...OPENAI,
  ...BUDGETS,
  ...USAGE,
  ...UPLOADS,
  ...CLIPS,
  ...RESTORE,
  ...PROVIDERS,
];
