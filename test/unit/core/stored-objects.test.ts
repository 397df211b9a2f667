import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import * as z from 'zod/mini';
import { storedObject } from '../../../core/stored-objects.ts';

const inner = { index: z.number(), width: z.optional(z.number()) };
const shapeOf = <Inner extends z.ZodMiniType>(nested: Inner) => ({
  id: z.string(),
  status: z.enum(['queued', 'failed']),
  note: z.optional(z.string()),
  outputs: z.optional(z.array(nested)),
});
const plain = z.object(shapeOf(z.object(inner)));
/** More parses than a schema is interpreted for. */
const ENOUGH = 150;
const A_STORED = { id: 'img_1', status: 'queued', outputs: [{ index: 0, width: 2 }] };
const fresh = () => storedObject(shapeOf(storedObject(inner)));
const compiled = fresh();
for (let parse = 0; parse < ENOUGH; parse++) compiled.parse(A_STORED);

const anOutput = fc.record(
  {
    index: fc.oneof(fc.integer(), fc.constant('0')),
    width: fc.oneof(fc.integer(), fc.constant(undefined), fc.constant(null)),
    other: fc.anything(),
  },
  { requiredKeys: [] },
);
const anItem = fc.oneof(
  fc.anything(),
  fc.record(
    {
      id: fc.oneof(fc.string(), fc.anything()),
      status: fc.oneof(fc.constantFrom('queued', 'failed', 'gone'), fc.anything()),
      note: fc.oneof(fc.string(), fc.constant(undefined), fc.constant(null)),
      outputs: fc.oneof(fc.array(anOutput, { maxLength: 3 }), fc.anything()),
      PK: fc.string(),
    },
    { requiredKeys: [] },
  ),
);

describe.each([
  ['interpreted', fresh],
  ['compiled', () => compiled],
])('the schema of a stored object, %s', (_, schemaOf) => {
  test('takes and refuses what `z.object` does, with the same values and the same problems', () => {
    fc.assert(
      fc.property(anItem, (item) => {
        const [expected, result] = [plain.safeParse(item), schemaOf().safeParse(item)];

        expect(result.data).toStrictEqual(expected.data);
        expect(result.error?.issues).toStrictEqual(expected.error?.issues);
      }),
      { numRuns: 60 },
    );
  });

  test('leaves out what it does not name, and keeps absent fields absent', () => {
    expect(schemaOf().parse({ ...A_STORED, PK: 'REQUEST#img_1' })).toStrictEqual(A_STORED);
  });
});
