import type { RequestKind } from '../../core/ids.ts';
import type { ProviderAnswer, ProviderPlan, ProviderRoute } from '../../core/provider-calls/providers.ts';
import { NOW } from '../unit/builders/clocks.ts';

/** Answers in turn, the last one repeated; or a function called each time. */
type Answers = readonly ProviderAnswer[] | (() => ProviderAnswer);

/** A provider with the given answers, and so many calls a request. `queries` lists when its task was queried, in seconds from `NOW`. */
export const stubProvider = (
  mode: ProviderPlan['mode'],
  answers: { submit: Answers; query?: Answers },
  callsBack: (kind: RequestKind) => boolean = () => false,
  calls = 1,
): (() => Promise<ProviderRoute>) & { queries: number[] } => {
  const submitted = inTurn(answers.submit);
  const queried = inTurn(answers.query ?? []);
  const queries: number[] = [];
  const providerRouteOf = async (): Promise<ProviderRoute> => ({
    upstreamModel: 'upstream-model',
    provider: {
      id: 'modelstudio',
      baseUrl: 'https://modelstudio.example',
      callsBack,
      plan: (request) => {
        const references = request.kind === 'image' ? request.references : request.referenceVideos;
        return {
          mode,
          calls: Array(calls).fill({
            path: '/create',
            headers: {},
            body: { prompt: request.prompt, references },
          }),
        };
      },
      submit: async () => submitted(),
      query: async () => {
        queries.push((Date.now() - NOW.getTime()) / 1000);
        return queried();
      },
      cancel: async () => ({ kind: 'cancelled' }),
    },
  });
  return Object.assign(providerRouteOf, { queries });
};

const inTurn = (answers: Answers): (() => ProviderAnswer) => {
  if (typeof answers === 'function') return answers;
  let next = 0;
  return () => {
    const answer = answers[Math.min(next++, answers.length - 1)];
    if (!answer) throw new Error('The provider has no answer left.');
    return answer;
  };
};

/** The answers of a task that finishes with `answer` so many seconds after `NOW`. */
export const taskFinishedAt = (seconds: number, answer: ProviderAnswer) => (): ProviderAnswer =>
  Date.now() - NOW.getTime() >= seconds * 1000 ? answer : { kind: 'waiting' };
