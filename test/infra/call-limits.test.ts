import { describe, expect, test } from '@jest/globals';
import type { CallKind } from '../../core/aws-clients.ts';
import { CALL_KINDS, longestCallMs } from '../unit/builders/call-limits.ts';
import { definitionFiles, readDefinition, statesOf } from '../workflow/asl.ts';
import { codeOf } from './function-code.ts';
import { ofType, synthesizeService } from './service-template.ts';

/** API Gateway's own limit: https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-execution-service-limits-table.html */
const GATEWAY_MS = 29_000;
/** How long before its time limit a function ends itself: `functions/http/api-handler.ts` and `functions/event-handler.ts`. */
const MARGIN_MS = { api: 2_000, other: 1_000 };

/** Kinds of AWS clients made in a function's code. */
const kindsIn = (code: string): CallKind[] =>
  CALL_KINDS.filter((kind) => new RegExp(`clientOptions\\d*\\("${kind}"\\)`).test(code));

const service = await synthesizeService();
const NAMES = Object.keys(service.functions);

test('every function calls AWS, and no kind of call is unused', () => {
  const kinds = new Map(NAMES.map((name) => [name, kindsIn(codeOf(name))]));

  expect([...kinds].filter(([, found]) => found.length === 0)).toEqual([]);
  expect(new Set([...kinds.values()].flat())).toEqual(new Set(CALL_KINDS));
});

describe.each(NAMES)('a call to AWS by %s', (name) => {
  test('ends, all attempts and their back-off included, before the function ends itself', () => {
    const timeoutMs = (service.functions[name]?.properties.Timeout ?? 0) * 1_000;
    const endsMs = timeoutMs - (name.startsWith('api/') ? MARGIN_MS.api : MARGIN_MS.other);

    for (const kind of kindsIn(codeOf(name))) {
      expect([kind, longestCallMs(kind) <= endsMs]).toEqual([kind, true]);
      if (name.startsWith('api/')) expect([kind, longestCallMs(kind) <= GATEWAY_MS]).toEqual([kind, true]);
    }
  });
});

describe('a call to AWS by a task', () => {
  const tasks = definitionFiles().flatMap((file) =>
    statesOf(readDefinition(file)).flatMap(([state, { Type, TimeoutSeconds, Parameters }]) =>
      Type === 'Task' && TimeoutSeconds !== undefined
        ? [{ file, state, TimeoutSeconds, placeholder: Parameters?.FunctionName?.slice(2, -1) ?? '' }]
        : [],
    ),
  );

  test.each(tasks)('ends inside the $TimeoutSeconds s of "$state"', ({ TimeoutSeconds, placeholder }) => {
    const arns = ofType(service.resources, 'AWS::StepFunctions::StateMachine').map(
      ([, { Properties }]) => Properties.DefinitionSubstitutions[placeholder],
    );
    const logicalId = arns.find((arn) => arn !== undefined)?.['Fn::GetAtt'][0];
    const name = NAMES.find((each) => service.functions[each]?.logicalId === logicalId) ?? '';

    for (const kind of kindsIn(codeOf(name))) {
      expect([kind, longestCallMs(kind) <= TimeoutSeconds * 1_000]).toEqual([kind, true]);
    }
  });
});
