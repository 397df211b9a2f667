import * as z from 'zod/mini';
import { type Instant, toInstant } from '../time.ts';

/** The end of a model: the instants of the announcement and of the end, and the model to use instead, if named. */
export const Retirement = z.object({
  announcedAt: z.string(),
  retiresAt: z.string(),
  replacedBy: z.optional(z.string()),
});
export type Retirement = z.infer<typeof Retirement>;

/** The ends of models, among their settings. */
export type Retirements = ReadonlyMap<string, { retirement?: Retirement | undefined }>;

const isOver = (retirement: Retirement | undefined, now: Instant): retirement is Retirement =>
  retirement !== undefined && retirement.retiresAt <= now;

const SUCCESSOR = ': use ';

/** Why a retired model refuses a creation, with a successor that is still in use; undefined before the end. */
export const retiredProblem = (id: string, settings: Retirements, now: Date): string | undefined => {
  const instant = toInstant(now);
  const own = settings.get(id)?.retirement;
  if (!isOver(own, instant)) return undefined;
  let { replacedBy } = own;
  // Successors end later than the models that they replace.
  for (let hops = 0; replacedBy !== undefined && hops < settings.size; hops++) {
    const next = settings.get(replacedBy)?.retirement;
    if (!isOver(next, instant)) break;
    replacedBy = next.replacedBy;
  }
  return `was retired at ${own.retiresAt}${replacedBy === undefined ? '' : SUCCESSOR + replacedBy}`;
};

/** The model that such a refusal names as the successor. */
export const successorIn = (problem: string): string | undefined => problem.split(SUCCESSOR)[1];

/** The problem with the end of a model, which must follow the ends of the models it replaces and precede its successor's end. */
export const retirementConflict = (
  id: string,
  { retiresAt, replacedBy }: Pick<Retirement, 'retiresAt' | 'replacedBy'>,
  settings: Retirements,
  now: Date,
): string | undefined => {
  const next = replacedBy === undefined ? undefined : settings.get(replacedBy)?.retirement;
  if (next && next.retiresAt <= retiresAt) return `${replacedBy} itself retires at ${next.retiresAt}.`;
  const [former] = [...settings].filter(
    ([, { retirement }]) =>
      retirement?.replacedBy === id &&
      retirement.retiresAt >= retiresAt &&
      !isOver(retirement, toInstant(now)),
  );
  if (!former) return undefined;
  return `${id} is to replace ${former[0]}, which retires at ${former[1].retirement?.retiresAt}: give that another successor first.`;
};
