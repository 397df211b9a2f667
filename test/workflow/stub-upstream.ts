import type { ProviderAnswer, ProviderPlan } from '../../core/providers.ts';
import type { Upstream } from '../../core/workflow.ts';

/** A provider that answers what it is told to, each call in turn; the last answer stands for all that follow. */
export const stubUpstream = (
  mode: ProviderPlan['mode'],
  answers: { submit: ProviderAnswer[]; query?: ProviderAnswer[] },
): (() => Promise<Upstream>) => {
  const submitted = inTurn(answers.submit);
  const queried = inTurn(answers.query ?? []);
  return async () => ({
    upstreamModel: 'upstream-model',
    provider: {
      id: 'modelstudio',
      planImages: ({ prompt, references }) => ({
        mode,
        calls: [{ path: '/create', headers: {}, body: { prompt, references } }],
      }),
      submit: async () => submitted(),
      query: async () => queried(),
    },
  });
};

const inTurn = (answers: readonly ProviderAnswer[]): (() => ProviderAnswer) => {
  let next = 0;
  return () => {
    const answer = answers[Math.min(next++, answers.length - 1)];
    if (!answer) throw new Error('The provider is asked what it has no answer for.');
    return answer;
  };
};
