import { expect, test } from '@jest/globals';
import { attempts } from './a-dispatch.ts';
import { FIRST, NO_ACCESS, THROTTLED, TwoRoutes } from './two-routes.ts';

test.each([
  ['another model of another provider', 'fal', 'two'],
  ['another model of the same provider', 'modelark', 'two'],
  ['the same model at another provider', 'fal', 'one'],
])(
  'a call is repeated once at each route whose quota seems to be used up, the second %s',
  async (_, provider, upstreamModel) => {
    const two = new TwoRoutes();
    two.routes = [...two.routes.slice(0, 1), { provider, upstreamModel }];
    two.answers[FIRST] = NO_ACCESS;
    two.answers[`${provider}/${upstreamModel}`] = { ...THROTTLED, ifRepeated: NO_ACCESS.failure };

    expect(await two.dispatch()).toMatchObject({ next: 'retry' });
    expect(await two.dispatch()).toMatchObject({ next: 'retry' });
    expect(attempts().at(-1)).toMatchObject({ provider, upstreamModel, outcome: { kind: 'busy' } });
    two.clock.advance(20);
    expect(await two.dispatch()).toMatchObject({ next: 'fail' });
    expect(attempts().at(-1)).toMatchObject({ outcome: { kind: 'failed', obstacle: 'quota' } });
  },
);
