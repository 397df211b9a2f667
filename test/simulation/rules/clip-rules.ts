import { CLIP_PREFIX } from '../../../core/object-keys.ts';
import type { Item } from '../../unit/fakes/expressions.ts';
import { isTerminal, type Life } from '../evidence/witness.ts';
import { requestOf } from '../world/aws/bucket.ts';
import { Part } from '../world/part.ts';
import { secondsOf } from '../world/upstream/clips.ts';
import type { World } from '../world/world.ts';

/** When the bucket's lifecycle removes copies: `lib/data-store.ts`. */
const LIFECYCLE_MS = 2 * 86_400_000;
/** From the first copy of a creation to its end. */
const CREATION_MS = 60_000;
const DELIVERY_HOST = 'https://files.example.com/';

/**
 * Watches the copies of reference videos. A request is billed for their seconds. Its provider gets URLs of them. They go once the
 * request has ended, and at once if it was never accepted.
 */
export class Clips extends Part {
  /** The copies of each request as they were when it was accepted, by their keys. */
  private readonly accepted = new Map<string, Map<string, Uint8Array | undefined>>();

  constructor(world: World) {
    super(world);
    world.onFileRemoved.push((objectKey) => this.judgeRemoval(objectKey));
    world.providers.onTaken = (requestId, body) => this.judgeTaken(requestId, body);
  }

  /** A request is accepted: its price is that of the copies that are there. */
  judgeAccepted({ requestId, accepted }: Life): void {
    const keys = clipsOf(accepted);
    if (keys.length !== listIn(accepted, 'referenceVideos').length)
      this.report(`[clip] ${requestId} has ${keys.length} copies of its reference videos`);
    if (keys.length === 0) return;
    const copies = keys.map((key) => [key, this.world.objects.get(key)?.bytes] as const);
    this.accepted.set(requestId, new Map(copies));
    const lengths = copies.map(([, bytes]) => bytes && secondsOf(bytes));
    if (lengths.includes(undefined)) {
      this.report(`[clip] ${requestId} was accepted with ${lengths.join(', ')} s of clips`);
      return;
    }
    const seconds = Number(accepted.durationSec) + lengths.reduce<number>((sum, one) => sum + (one ?? 0), 0);
    const due = seconds * Number(accepted.unitPriceThousandths);
    if (accepted.billedSeconds !== seconds || accepted.debitThousandths !== due)
      this.report(
        `[clip] ${requestId} is ${seconds} s long with its clips, is billed ${accepted.billedSeconds} s and debited ${accepted.debitThousandths}`,
      );
  }

  /** What is left of copies once nothing is under way any more. */
  restProblems(): string[] {
    const { evidence, objects, scheduler } = this.world;
    for (const [key, { storedAt }] of objects) {
      if (key.startsWith(CLIP_PREFIX) && storedAt.getTime() < scheduler.now - LIFECYCLE_MS)
        objects.delete(key);
    }
    return [...objects].flatMap(([key, { storedAt }]) => {
      if (!key.startsWith(CLIP_PREFIX)) return [];
      const life = this.world.witness.lives.get(requestOf(key));
      const since = life?.acceptedAt ?? storedAt.getTime() - CREATION_MS;
      return evidence.disturbedAt >= since ? [] : [`[clip left] ${key} is there and nobody needs it`];
    });
  }

  /** A provider takes a request: it gets URLs of the very bytes that were measured. */
  private judgeTaken(requestId: string, body: string): void {
    const copies = this.accepted.get(requestId);
    const life = this.world.witness.lives.get(requestId);
    if (!copies || !life || life.removedAt !== undefined || isTerminal(life.last)) return;
    for (const [key, bytes] of copies) {
      const url = new RegExp(`${DELIVERY_HOST}${key}\\?Expires=(\\d+)`).exec(body);
      const stored = this.world.objects.get(key)?.bytes;
      if (!url) this.report(`[clip url] the provider of ${requestId} gets no URL of ${key}`);
      else if (Number(url[1]) * 1000 < this.world.scheduler.now)
        this.report(`[clip url] the URL of ${key} has expired`);
      else if (stored !== bytes) this.report(`[clip url] ${key} is not what was measured`);
    }
  }

  /** A copy is removed when the request has ended, or when the provider has made every output. */
  private judgeRemoval(objectKey: string): void {
    const life = objectKey.startsWith(CLIP_PREFIX) && this.world.witness.lives.get(requestOf(objectKey));
    if (!life || life.removedAt !== undefined || isTerminal(life.last)) return;
    if (life.last.outputs === undefined)
      this.report(`[clip gone] ${objectKey} was removed while its request was ${life.last.status}`);
  }
}

const listIn = (record: Item, name: string): string[] => (record[name] ?? []) as string[];
const clipsOf = (record: Item): string[] => listIn(record, 'clips');
