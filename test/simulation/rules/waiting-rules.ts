import type { Item } from '../../unit/fakes/expressions.ts';
import { CLOCKS_APART_MS } from '../world/clocks.ts';
import { type Invocation, invocations } from '../world/engine/invocation.ts';
import { Part } from '../world/part.ts';
import type { World } from '../world/world.ts';

/** How the partitions of the slots of waiting calls begin, of an account's own, and of the entries of calls. */
const SLOTS = 'IN_FLIGHT#openai#';
const ACCOUNT_SLOTS = `${SLOTS}ACCOUNT#`;
const ENTRIES = 'IDEMPOTENCY#';
/** The number of reads after which a call knows that it has lost its request: once, and again after an error. */
const READS = { calm: 1, disturbed: 4 };
/** How long after its wait a call may have its slot: its answer is sent. The lease ends later. */
const SENT_MS = 40_000;

/** The longest lease of a slot, by a clock that is ahead. */
const LEASE_MS = 120_000;

/** How long before a slot is taken a disturbance may come that still meets its call. */
const DISTURBED_MS = 30_000;

/** A lease of a slot, as stored. */
interface Lease {
  holder: string;
  heldUntil: number;
}

const leasesOf = (item: Item | undefined): Lease[] =>
  Object.entries(item ?? {}).flatMap(([name, value]) => (/^slot\d+$/.test(name) ? [value as Lease] : []));

/**
 * Checks the calls of OpenAI's clients that wait. No request has two waiters: a call whose request another one has taken reads its entry once
 * more, and ends. No account has more calls at work on their requests than slots, nor have all accounts together. A slot is given back when
 * its call ends, unless something went wrong meanwhile.
 */
export class Waiting extends Part {
  /** The reads of each request by calls at work, with their instants. */
  private readonly waiters = new Map<string, Map<Invocation, number[]>>();

  constructor(world: World) {
    super(world);
    world.onBatchRead.push((keys) => this.seeRead(keys));
    world.table.witnesses.push((_key, before, after) => {
      if (String(after?.PK).startsWith(SLOTS)) this.seeSlots(before, after as Item);
    });
  }

  /** A call looks at its request: it reads the entry beside the record. */
  private seeRead(keys: readonly Item[]): void {
    const invocation = invocations.getStore();
    const record = keys.find(({ SK }) => SK === 'REQUEST');
    const isWait = keys.length === 2 && keys.some(({ PK }) => String(PK).startsWith(ENTRIES));
    if (!invocation || !record || !isWait) return;
    const key = String(record.PK);
    const reads = this.waiters.get(key) ?? new Map<Invocation, number[]>();
    this.waiters.set(key, reads);
    reads.set(invocation, [...(reads.get(invocation) ?? []), this.world.scheduler.now]);
    this.judgeWaiters(key, reads);
  }

  private judgeWaiters(key: string, reads: ReadonlyMap<Invocation, readonly number[]>): void {
    const all = [...reads.values()];
    for (const [index, [takenAt, ...more]] of all.entries()) {
      // A call that reads again was the waiter at its first read; a call that does not may have lost the request
      // before.
      if (takenAt === undefined || more.length === 0) continue;
      const most = this.world.evidence.disturbedAt < takenAt ? READS.calm : READS.disturbed;
      const isWaiting = (instants: readonly number[]): boolean =>
        instants.filter((at) => at > takenAt).length > most;
      if (all.slice(0, index).some(isWaiting))
        this.report(`[two waiters] ${key} is waited for by a call that another one has taken it from`);
    }
  }

  private seeSlots(before: Item | undefined, after: Item): void {
    const known = new Set(leasesOf(before).map(({ holder }) => holder));
    const { evidence, scheduler } = this.world;
    const taken = leasesOf(after).filter(({ holder }) => !known.has(holder));
    if (taken.length === 0) return;
    const key = { PK: String(after.PK), SK: String(after.SK) };
    this.judgeCount(after);
    const takenAt = scheduler.now;
    scheduler.after(Number(process.env.OPENAI_WAIT_SECONDS) * 1_000 + SENT_MS, () => {
      // A process can die of the call that takes its slot, which its lease frees.
      const isDisturbed = evidence.disturbedAt >= takenAt - DISTURBED_MS;
      const bound = isDisturbed ? takenAt + LEASE_MS : 0;
      const left = leasesOf(this.world.table.get(key)).filter(({ heldUntil }) => heldUntil > bound);
      if (taken.some(({ holder }) => left.some((one) => one.holder === holder)))
        this.report(`[slot kept] ${key.PK} has a slot of a call that has ended`);
    });
  }

  /** The slots of an account, or of all, are no more than there are. */
  private judgeCount(item: Item): void {
    const { now } = this.world.scheduler;
    const isAccount = String(item.PK).startsWith(ACCOUNT_SLOTS);
    const inAll = Number(process.env.OPENAI_WAITING_IN_ALL) || Number.POSITIVE_INFINITY;
    const held = (items: readonly Item[]): number =>
      items.flatMap(leasesOf).filter(({ heldUntil }) => heldUntil > now + CLOCKS_APART_MS).length;
    const most = isAccount ? Number(process.env.OPENAI_WAITING) : inAll;
    const all = isAccount
      ? [item]
      : this.world.items('IN_FLIGHT').filter(({ PK }) => String(PK).startsWith(`${SLOTS}ALL#`));
    if (held(all) > most)
      this.report(`[slots] ${held(all)} calls hold slots of ${item.PK}, which has ${most}`);
  }
}
