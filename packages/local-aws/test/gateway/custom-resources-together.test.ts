import { describe, expect, test } from '@jest/globals';
import type { TemplateResource } from '../../src/template/assembly.ts';
import type { InvocationResult } from '../../src/types.ts';
import {
  aCustomResource,
  aStateFile,
  type Event,
  provision,
  respond,
  succeeding,
} from './a-custom-resource.ts';

describe('custom resources that change together', () => {
  /** What each event asked for: its type, the resource, its size and its physical id. */
  const asked = (events: Event[]) =>
    events.map(({ RequestType, LogicalResourceId, ResourceProperties, PhysicalResourceId }) =>
      [RequestType, LogicalResourceId, ResourceProperties.Size ?? '-', PhysicalResourceId ?? '-'].join(' '),
    );
  /** A function that refuses events of these kinds, such as `Create Second`. */
  const refusing = (...kinds: string[]) => {
    const { events, answer } = succeeding();
    return {
      events,
      answer: async (event: Event): Promise<InvocationResult> => {
        if (!kinds.includes(`${event.RequestType} ${event.LogicalResourceId}`)) return answer(event);
        events.push(event);
        await respond(event, { Status: 'FAILED', Reason: 'refused' });
        return { payload: null };
      },
    };
  };
  const pair = (size: number, more: Record<string, TemplateResource> = {}) => ({
    First: aCustomResource({ Size: size }),
    Second: aCustomResource({ Size: size }, { DependsOn: 'First' }),
    ...more,
  });

  test('are deleted, the last first, when one of them is not created, and are then created anew', async () => {
    const stateFile = aStateFile();
    const { events, answer } = refusing('Create Second');

    await expect(provision(pair(1), answer, stateFile)).rejects.toThrow(/Second .* refused$/);
    expect(asked(events)).toEqual([
      'Create First 1 -',
      'Create Second 1 -',
      'Delete Second 1 Second',
      'Delete First 1 physical-First',
    ]);
    const next = succeeding();
    await provision(pair(1), next.answer, stateFile);
    expect(asked(next.events)).toEqual(['Create First 1 -', 'Create Second 1 -']);
  });

  test('get their old properties back when one of them is not updated', async () => {
    const { stateFile } = await provision(pair(1), succeeding().answer);
    const { events, answer } = refusing('Create Third');
    const changed = pair(2, { Third: aCustomResource({}, { DependsOn: 'Second' }) });

    await expect(provision(changed, answer, stateFile)).rejects.toThrow(/Third .* refused$/);
    expect(asked(events).slice(3)).toEqual([
      'Update Second 1 physical-Second',
      'Update First 1 physical-First',
      'Delete Third - Third',
    ]);
    const next = succeeding();
    await provision(pair(1), next.answer, stateFile);
    expect(next.events).toEqual([]);
  });

  test('are deleted under the new id, after their update, when the update that replaced them rolls back', async () => {
    const events: Event[] = [];
    const named = async (event: Event): Promise<InvocationResult> => {
      events.push(event);
      const { LogicalResourceId, ResourceProperties } = event;
      const isRefused = LogicalResourceId === 'Second' && ResourceProperties.Size === '2';
      await respond(event, {
        Status: isRefused ? 'FAILED' : 'SUCCESS',
        PhysicalResourceId: `${LogicalResourceId}-${ResourceProperties.Size}`,
      });
      return { payload: null };
    };
    const { stateFile } = await provision(pair(1), named);

    await expect(provision(pair(2), named, stateFile)).rejects.toThrow(/Second/);
    expect(asked(events).slice(2)).toEqual([
      'Update First 2 First-1',
      'Update Second 2 Second-1',
      'Update Second 1 Second-1',
      'Update First 1 First-2',
      'Delete First 2 First-2',
    ]);
    events.length = 0;
    await provision(pair(1), named, stateFile);
    expect(events).toEqual([]);
  });

  test('say so when they cannot be rolled back', async () => {
    const { answer } = refusing('Create Second', 'Delete First');

    await expect(provision(pair(1), answer)).rejects.toThrow(
      /Second .* refused; nor could all be rolled back/,
    );
  });
});
