/**
 * A child process of the attack's memory test: parses the largest bodies there can be, over and over. It ends with 0 unless
 * the heap it was given is too small.
 */

import type { APIGatewayProxyEvent } from 'aws-lambda';
import { imageSubmission, videoSubmission } from '../../../core/creation/submission.ts';
import { routeText } from '../../../core/routes.ts';
import { ApiRequest } from '../../../functions/http/api-request.ts';
import { receiveCreation } from '../../../functions/http/creation-route.ts';

const ROUNDS = 20;
const SIZE = 255 * 1024;
const filling = (text: string) => text.repeat(Math.floor(SIZE / text.length));
const BODIES = [
  `{"references":[${filling('0,')}0]}`,
  `{"referenceVideos":[${filling('"",')}0]}`,
  `{"sequentialOptions":{${filling('"a":1,')}"b":1}}`,
  `{"prompt":"${filling('ﷺ')}","endUserEmail":"${'ﷺ'.repeat(1_000)}@example.com"}`,
  `{"endUserEmail":"${filling('ﷺ')}"}`,
  `{"n":${'['.repeat(SIZE / 2)}${']'.repeat(SIZE / 2)}}`,
  `{${Array.from({ length: 15_000 }, (_, index) => `"k${index}":[]`).join(',')}}`,
  filling('{"a":'),
];

for (let round = 0; round < ROUNDS; round++) {
  for (const body of BODIES) {
    const request = new ApiRequest(
      { body, headers: {}, isBase64Encoded: false } as unknown as APIGatewayProxyEvent,
      new Date(),
    );
    for (const [name, parse] of [
      ['create-generation', imageSubmission],
      ['create-video', videoSubmission],
    ] as const) {
      const parsed = parse(receiveCreation(request, name, 'key_1'));
      if (parsed.ok) throw new Error(`${routeText(name)} took ${body.slice(0, 40)}.`);
      if (JSON.stringify(parsed.error.fields).length > 16_384)
        throw new Error(`A long refusal of ${body.slice(0, 40)}.`);
    }
  }
}
