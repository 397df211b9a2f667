import type { Command } from 'commander';
import { ConflictError } from '../../core/errors.ts';
import { type CatalogModel, findModel } from '../../core/models/catalog.ts';
import { listModelSettings, type ModelSettings, putRetirement } from '../../core/models/model-settings.ts';
import { type Retirement, retirementConflict } from '../../core/models/retirement.ts';
import { listCredentials } from '../../core/provider-calls/credentials.ts';
import { offerProblem } from '../../core/provider-calls/offer-problem.ts';
import { type Instant, systemClock, toInstant } from '../../core/time.ts';
import { dateOrDuration, MODEL_IDS, oneOf } from '../options.ts';
import { formatFields, type Result } from '../output.ts';
import { modelOf } from '../rate-text.ts';
import { type Perform, UsageError, type Verb } from '../verb.ts';

/** `models retire` */
export const addRetireVerb = (
  verb: (name: string, description: string) => Command,
  perform: Perform,
): void => {
  verb('retire', 'announce the end of the model: from then on its new requests are refused')
    .option('--retires-at <time>', 'its end, such as 2027-01-31, or how long from now: 30d', dateOrDuration)
    .option('--replaced-by <model>', 'the model to use in its place', (value) => oneOf(MODEL_IDS, value))
    .option('--undo', 'take the end back, before or after it')
    .action(perform(retire));
};

interface RetireOptions {
  model: string;
  retiresAt?: Instant;
  replacedBy?: string;
  undo?: true;
}

const retire: Verb<RetireOptions> = async ({ model, undo, ...end }, connected, { recorder }) => {
  const { retiresAt, replacedBy } = end;
  if (undo ? (retiresAt ?? replacedBy) : retiresAt === undefined)
    throw new UsageError('Give --retires-at, with --replaced-by if there is a successor; or --undo alone.');
  await connected();
  const former = modelOf(model);
  const retirement = retiresAt === undefined ? undefined : await announced(former, { retiresAt, replacedBy });
  const detail = retirement ? `at ${retiresAt}, ${replacedBy ?? 'no successor'}` : 'none';
  await putRetirement(model, retirement, (await recorder()).write({ subject: model, detail }));
  return resultOf(model, retirement);
};

/** The end of a model, announced when its first date was. Throws `UsageError` for a past one, `ConflictError` for a successor that cannot be one. */
const announced = async (
  model: CatalogModel,
  end: { retiresAt: Instant; replacedBy: string | undefined },
): Promise<Retirement> => {
  const now = systemClock.now();
  if (end.retiresAt <= toInstant(now))
    throw new UsageError(
      `${end.retiresAt} has passed: models disable refuses the requests of a model at once.`,
    );
  const settings = await listModelSettings();
  const problem = await successorProblem(model, end.replacedBy, settings, now);
  const refusal = problem ?? retirementConflict(model.id, end, settings, now);
  if (refusal !== undefined) throw new ConflictError(refusal);
  return { announcedAt: settings.get(model.id)?.retirement?.announcedAt ?? toInstant(now), ...end };
};

/** Why a model cannot take the place of another. */
const successorProblem = async (
  model: CatalogModel,
  replacedBy: string | undefined,
  settings: ReadonlyMap<string, ModelSettings>,
  now: Date,
): Promise<string | undefined> => {
  if (replacedBy === undefined) return undefined;
  const successor = findModel(replacedBy);
  if (!successor) return `There is no model ${replacedBy}.`;
  if (successor.id === model.id) return `${model.id} cannot replace itself.`;
  if (successor.type !== model.type) return `${replacedBy} makes ${successor.type}s, ${model.id} does not.`;
  const problem = offerProblem(successor, settings, await listCredentials(now), now);
  return problem && `${replacedBy} is not served: ${problem}.`;
};

const resultOf = (id: string, retirement: Retirement | undefined): Result => {
  const { announcedAt = null, retiresAt = null, replacedBy = null } = retirement ?? {};
  const value = { id, announcedAt, retiresAt, replacedBy };
  const fields = { model: id, announced: announcedAt, retires: retiresAt, 'replaced by': replacedBy };
  return { value, text: (columns) => formatFields(fields, columns) };
};
