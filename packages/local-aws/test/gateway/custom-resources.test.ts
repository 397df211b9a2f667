import { statSync } from 'node:fs';
import { describe, expect, jest, test } from '@jest/globals';
import type { InvocationResult } from '../../src/types.ts';
import { aCustomResource, type Event, provision, respond, succeeding } from './a-custom-resource.ts';

describe('a custom resource', () => {
  test("is created by its function, which receives CloudFormation's event", async () => {
    const { events, answer } = succeeding();

    const { customResources, functions } = await provision(
      {
        Pair: aCustomResource({
          Size: 2,
          On: true,
          List: [1, { Deep: false }],
          Region: { Ref: 'AWS::Region' },
        }),
      },
      answer,
    );

    expect(functions).toEqual(['arn:aws:lambda:us-east-1:000000000000:function:Maker']);
    expect(events).toEqual([
      {
        RequestType: 'Create',
        ResponseURL: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\//),
        StackId: expect.stringMatching(/^arn:aws:cloudformation:us-east-1:000000000000:stack\/Shop\//),
        RequestId: expect.any(String),
        LogicalResourceId: 'Pair',
        ResourceType: 'Custom::Thing',
        ResourceProperties: {
          ServiceToken: 'arn:aws:lambda:us-east-1:000000000000:function:Maker',
          Size: '2',
          On: 'true',
          List: ['1', { Deep: 'false' }],
          Region: 'us-east-1',
        },
      },
    ]);
    expect(customResources.get('Pair')).toEqual({
      physicalResourceId: 'physical-Pair',
      data: { Name: 'Pair', Asked: 1 },
    });
  });

  test('is left alone at the next start, and updated when its properties change', async () => {
    const { events, answer } = succeeding();
    const { stateFile } = await provision({ Pair: aCustomResource({ Size: 1 }) }, answer);

    const second = await provision({ Pair: aCustomResource({ Size: 1 }) }, answer, stateFile);
    expect(second.functions).toEqual([]);
    expect(second.customResources.get('Pair')?.data).toEqual({ Name: 'Pair', Asked: 1 });

    const third = await provision({ Pair: aCustomResource({ Size: 2 }) }, answer, stateFile);
    expect(events[1]).toMatchObject({
      RequestType: 'Update',
      PhysicalResourceId: 'physical-Pair',
      ResourceProperties: { Size: '2' },
      OldResourceProperties: { Size: '1' },
    });
    expect(third.customResources.get('Pair')?.data).toEqual({ Name: 'Pair', Asked: 2 });
    expect((await provision({ Pair: aCustomResource({ Size: 2 }) }, answer, stateFile)).functions).toEqual(
      [],
    );
  });

  test('that its function answers under another id is deleted under the old one, after all are made', async () => {
    const events: Event[] = [];
    const answer = async (event: Event): Promise<InvocationResult> => {
      events.push(event);
      await respond(event, {
        Status: 'SUCCESS',
        PhysicalResourceId: `size-${event.ResourceProperties.Size}`,
      });
      return { payload: null };
    };
    const { stateFile } = await provision({ Pair: aCustomResource({ Size: 1 }) }, answer);

    const made = { Pair: aCustomResource({ Size: 2 }), Last: aCustomResource({ Size: 3 }) };
    const { customResources } = await provision(made, answer, stateFile);
    await provision(made, answer, stateFile);

    expect(events.map(({ RequestType, LogicalResourceId }) => `${RequestType} ${LogicalResourceId}`)).toEqual(
      ['Create Pair', 'Update Pair', 'Create Last', 'Delete Pair'],
    );
    expect(events[3]).toMatchObject({
      PhysicalResourceId: 'size-1',
      ResourceType: 'Custom::Thing',
      ResourceProperties: { Size: '1' },
    });
    expect(events[3]).not.toHaveProperty('OldResourceProperties');
    expect(customResources.get('Pair')?.physicalResourceId).toBe('size-2');
  });

  test('that left the template is deleted, the last one too, and only once', async () => {
    const { events, answer } = succeeding();
    const { stateFile } = await provision({ Old: aCustomResource({ Size: 1 }) }, answer);

    await provision({ New: aCustomResource() }, answer, stateFile);
    await provision({}, answer, stateFile);
    await provision({}, answer, stateFile);

    expect(events.map(({ RequestType, LogicalResourceId }) => `${RequestType} ${LogicalResourceId}`)).toEqual(
      ['Create Old', 'Create New', 'Delete Old', 'Delete New'],
    );
    expect(events[2]).toMatchObject({
      PhysicalResourceId: 'physical-Old',
      ResourceProperties: { Size: '1' },
    });
  });

  test('that cannot be deleted is given up, and the start goes on', async () => {
    const log = jest.spyOn(console, 'error').mockReturnValue();
    const { stateFile } = await provision({ Old: aCustomResource() }, succeeding().answer);
    const refuse = () => Promise.reject(new Error('Function not found'));

    await provision({}, refuse, stateFile);
    const { functions } = await provision({}, refuse, stateFile);

    expect(functions).toEqual([]);
    expect(log.mock.calls).toEqual([
      ['[cloudformation] physical-Old was not removed:', new Error('Function not found')],
    ]);
    log.mockRestore();
  });

  test('is stored in a file that only its owner can read', async () => {
    const { stateFile } = await provision({ Pair: aCustomResource() }, succeeding().answer);

    expect(statSync(stateFile).mode & 0o777).toBe(0o600);
  });

  test('is created after those it refers to or depends on', async () => {
    const { events, answer } = succeeding();

    await provision(
      {
        First: aCustomResource({ From: { 'Fn::GetAtt': ['Second', 'Name'] } }),
        Second: aCustomResource({}, { DependsOn: ['Third', 'Maker'] }),
        Third: aCustomResource(),
      },
      answer,
    );

    expect(events.map(({ LogicalResourceId }) => LogicalResourceId)).toEqual(['Third', 'Second', 'First']);
    expect(events[2]?.ResourceProperties).toMatchObject({ From: 'Second' });
  });

  test.each<[string, (event: Event) => Promise<InvocationResult>, RegExp]>([
    [
      'its function refuses',
      async (event) => {
        await respond(event, { Status: 'FAILED', Reason: 'no entropy' });
        return { payload: null };
      },
      /Pair \(Custom::Thing\) failed: no entropy/,
    ],
    [
      'its function fails',
      async () => ({ payload: { errorType: 'TypeError', errorMessage: 'oops' }, functionError: 'Unhandled' }),
      /Pair .*TypeError.*oops/,
    ],
    [
      'there is no such function',
      () => Promise.reject(new Error('Function not found')),
      /Function not found/,
    ],
    [
      'the answer is not JSON',
      async (event) => {
        await respond(event, 'fine');
        return { payload: null };
      },
      /not JSON/,
    ],
  ])('stops the start when %s', async (_title, answer, message) => {
    await expect(provision({ Pair: aCustomResource() }, answer)).rejects.toThrow(message);
  });

  test('stops the start when nothing is answered in time', async () => {
    const silent = provision({ Pair: aCustomResource() }, async () => ({ payload: null }), undefined, 200);

    await expect(silent).rejects.toThrow(/no answer within 0\.2 s/);
  });
});
