import type { RequestKind } from '../../core/ids.ts';
import type { ProviderAnswer, ProviderPlan, ProviderRoute } from '../../core/provider-calls/providers.ts';
import { NOW } from '../unit/builders/clocks.ts';

/** Answers to be given in turn, the last one for all that follow; or whatever a function says each time. */
type Answers = readonly ProviderAnswer[] | (() => ProviderAnswer);

/** A provider that answers what it is told to, and remembers when it was asked for a task, in seconds from `NOW`. */
export const stubUpstream = (
  mode: ProviderPlan['mode'],
  answers: { submit: Answers; query?: Answers },
  callsBack: (kind: RequestKind) => boolean = () => false,
): (() => Promise<ProviderRoute>) & { asked: number[] } => {
  const submitted = inTurn(answers.submit);
  const queried = inTurn(answers.query ?? []);
  const asked: number[] = [];
  const providerRouteOf = async (): Promise<ProviderRoute> => ({
    upstreamModel: 'upstream-model',
    provider: {
      id: 'modelstudio',
      callsBack,
      plan: (request) => {
        const references = request.kind === 'image' ? request.references : request.referenceVideos;
        return {
          mode,
          calls: [{ path: '/create', headers: {}, body: { prompt: request.prompt, references } }],
        };
      },
      submit: async () => submitted(),
      query: async () => {
        asked.push((Date.now() - NOW.getTime()) / 1000);
        return queried();
      },
    },
  });
  return Object.assign(providerRouteOf, { asked });
};

const inTurn = (answers: Answers): (() => ProviderAnswer) => {
  if (typeof answers === 'function') return answers;
  let next = 0;
  return () => {
    const answer = answers[Math.min(next++, answers.length - 1)];
    if (!answer) throw new Error('The provider is asked what it has no answer for.');
    return answer;
  };
};

/** The answers for a task that is over so many seconds after `NOW`, with this. */
export const taskOverAt = (seconds: number, answer: ProviderAnswer) => (): ProviderAnswer =>
  Date.now() - NOW.getTime() >= seconds * 1000 ? answer : { kind: 'waiting' };
