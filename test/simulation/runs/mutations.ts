import { machineArn } from '../world/aws/execution.ts';
import type { Write } from '../world/aws/table.ts';
import type { Mutation } from '../world/world.ts';

/** A write that nothing refuses any more. */
export const unconditional = (write: Write): Write => {
  const { ConditionExpression: _, ReturnValuesOnConditionCheckFailure: __, ...rest } = write;
  const used = new Set(rest.UpdateExpression?.match(/[:#]\w+/g));
  const kept = <T>(placeholders: Record<string, T> | undefined): Record<string, T> =>
    Object.fromEntries(Object.entries(placeholders ?? {}).filter(([name]) => used.has(name)));
  return {
    ...rest,
    ExpressionAttributeNames: kept(write.ExpressionAttributeNames),
    ExpressionAttributeValues: kept(write.ExpressionAttributeValues),
  };
};

/** Whether a write is one of the two of a balance change with this reason. */
const isOfChange = (writes: readonly Write[], reason: string) => {
  const hasReason = writes.some(({ Item }) => Item?.reason === reason);
  return ({ Key, Item }: Write): boolean => hasReason && (Key?.SK === 'ACCOUNT' || Item?.reason === reason);
};

const isEnding = ({ Key, UpdateExpression = '' }: Write): boolean =>
  Key?.SK === 'REQUEST' && UpdateExpression.includes('finishedAt');

/** The waiter that each run of a function read first. */
const firstWaiters = new WeakMap<object, unknown>();

/** Bugs the simulation must find, each made where functions meet the world: their answers, calls and transactions. */
export const MUTATIONS = {
  /** A refund that does not look whether the ledger is still where it was read. */
  'refund without condition': {
    writes: (writes) => {
      const isRefund = isOfChange(writes, 'refund');
      return [writes.map((write) => (isRefund(write) ? unconditional(write) : write))];
    },
  },
  /** A creation that takes the money first and writes the request afterwards. */
  'debit outside the transaction': {
    writes: (writes) => {
      const isDebit = isOfChange(writes, 'generation');
      const rest = writes.filter((write) => !isDebit(write));
      return rest.length === writes.length ? [[...writes]] : [writes.filter(isDebit), rest];
    },
  },
  /** A settlement that does not look whether the request has ended already. */
  'settle that ignores the claim': {
    writes: (writes) => [writes.map((write) => (isEnding(write) ? unconditional(write) : write))],
  },
  /** A dispatch that fails every request without calling a provider. */
  'dispatch that calls no provider': {
    answers: {
      'workflow/dispatch-request': {
        next: 'fail',
        error: { code: 'provider_error', message: 'The upstream provider returned an error.' },
      },
    },
  },
  /** A reconciler that never starts a request that never started. */
  'reconciler that starts nothing': {
    drops: (functionName, command, { stateMachineArn }) =>
      functionName.startsWith('events/reconcile') &&
      command === 'StartExecutionCommand' &&
      stateMachineArn === machineArn('generation'),
  },
  /** A call of OpenAI's clients that gives its slot back to nobody. */
  'waiting call that keeps its slot': {
    drops: (functionName, command, { Key, UpdateExpression }) =>
      functionName === 'api/create-openai-image' &&
      command === 'UpdateCommand' &&
      String((Key as { PK?: string }).PK).startsWith('IN_FLIGHT#openai#') &&
      String(UpdateExpression).startsWith('REMOVE'),
  },
  /** A call of OpenAI's clients that never learns that a newer call has taken the request. */
  'waiting call that knows no other': {
    reads: (item, reader) => {
      if (item.waiter === undefined || !reader) return item;
      const first = firstWaiters.get(reader) ?? item.waiter;
      firstWaiters.set(reader, first);
      return { ...item, waiter: first };
    },
  },
  /** A check of signatures that finds every one right. */
  'callback whose signature nobody checks': { signs: true },
  /** A query of one task whose answer is taken for all tasks of its request. */
  'state of one task taken for all': { asks: (taskId, [first = taskId]) => first },
} satisfies Record<string, Mutation>;

export type MutationName = keyof typeof MUTATIONS;
