import type { Item } from '../../unit/fakes/expressions.ts';
import { type Life, objectKeysOf } from '../evidence/witness.ts';
import { requestOf } from '../world/aws/bucket.ts';
import { Part } from '../world/part.ts';
import type { World } from '../world/world.ts';

/** Files are gone so long after their time: decisions, section 6. And how long it takes until the removal has arrived. */
const BOUND_MS = 120_000;
const SLACK_MS = 20_000;
/** How often a request is checked whose files are late, because something went wrong meanwhile. */
const CHECK_MS = 60_000;

/** Judges when the files of succeeded requests go: never before their time, and at most two minutes after it. */
export class Expiry extends Part {
  constructor(world: World) {
    super(world);
    world.onFileRemoved.push((objectKey) => this.judgeRemoval(objectKey));
    world.witness.onExpire = (life) => this.judgeMark(life);
  }

  /** A request has ended: from the time on when its files expire it is checked. */
  await(life: Life): void {
    if (life.last.status !== 'succeeded') return;
    this.checkIn(life, expiryOf(life.last) + BOUND_MS + SLACK_MS - this.world.scheduler.now);
  }

  private checkIn(life: Life, milliseconds: number): void {
    this.world.scheduler.after(milliseconds, () => this.check(life));
  }

  private check(life: Life): void {
    const { lateness, scheduler } = this.world;
    const { requestId, last, removedAt } = life;
    if (removedAt !== undefined) return;
    const files = this.filesOf(requestId);
    if (last.expiredAt !== undefined && files.length === 0) return;
    // Each attempt that fails puts the next one off.
    const dueAt = Math.max(expiryOf(last), Date.parse(String(last.GSI1SK ?? 0)) || 0);
    if (scheduler.now - dueAt < BOUND_MS + SLACK_MS + lateness.excusedMs(dueAt, scheduler.now)) {
      this.checkIn(life, CHECK_MS);
      return;
    }
    const what = files.length > 0 ? `${files.join(', ')} of it left` : 'nothing marked';
    this.report(`[late expiry] ${requestId} has expired for more than ${BOUND_MS / 1000} s, ${what}`);
  }

  /** A file that a record names is not removed before its time, unless its request was deleted. */
  private judgeRemoval(objectKey: string): void {
    const life = this.world.witness.lives.get(requestOf(objectKey));
    if (!life || life.removedAt !== undefined || life.last.status !== 'succeeded') return;
    const leftMs = expiryOf(life.last) - this.world.scheduler.now;
    if (leftMs > 0 && objectKeysOf(life.last).includes(objectKey))
      this.report(`[early expiry] ${objectKey} was removed ${leftMs} ms before its time`);
  }

  private judgeMark({ requestId, last }: Life): void {
    const files = this.filesOf(requestId);
    if (files.length > 0)
      this.report(`[early expiry] ${requestId} was marked while it had ${files.join(', ')}`);
    if (expiryOf(last) > this.world.scheduler.now)
      this.report(`[early expiry] ${requestId} was marked before its time`);
  }

  private filesOf(requestId: string): string[] {
    return [...this.world.objects.keys()].filter((objectKey) => requestOf(objectKey) === requestId);
  }
}

const expiryOf = ({ expiresAt }: Item): number => Date.parse(String(expiresAt));
