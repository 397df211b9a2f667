import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { GenerationServiceError } from '../../packages/client/src/index.ts';
import { now } from '../state/clock.ts';
import { useLive } from '../state/live.ts';
import { type AnyRecord, isVideoId } from '../state/record-rules.ts';
import { requiredClient } from '../state/session.ts';
import { usualMilliseconds, type Wait, waitTexts } from './wait-rules.ts';

/** Requests that tell how long others took. */
const RECENT = 20;
/** Queued requests that are counted. */
const MOST_COUNTED = 50;

const listLike = async ({ requestId, model }: AnyRecord, query: object) => {
  const client = requiredClient();
  const options = { model, ...query };
  return isVideoId(requestId) ? client.listVideos(options) : client.listImages(options);
};

/** The wait of an unfinished request: how many are before it, and for about how long. Its own lists are read while it is looked at. */
export const Waiting = ({ record }: { record: AnyRecord }) => {
  const earlier = useSignal<Wait['earlier']>(undefined);
  const usual = useSignal<number | undefined>(undefined);
  const { requestId, status, createdAt } = record;
  const readEarlier = async () => {
    if (status !== 'queued') return;
    const query = { status: 'queued', createdBefore: createdAt, pageSize: MOST_COUNTED };
    const { items, hasMore } = await listLike(record, query);
    earlier.value = { count: items.length, isAll: !hasMore };
  };
  const readUsual = async () => {
    const { items } = await listLike(record, { status: 'succeeded', pageSize: RECENT });
    usual.value = usualMilliseconds(items);
  };
  // The page says itself when the service cannot be reached.
  const quietly = async (read: () => Promise<void>) => {
    try {
      await read();
    } catch (error) {
      if (!(error instanceof GenerationServiceError)) throw error;
    }
  };
  useEffect(() => {
    quietly(readEarlier);
    quietly(readUsual);
  }, [requestId, status]);
  useLive(() => quietly(readEarlier), [requestId, status]);
  return (
    <p class="panel waiting">
      {waitTexts({ record, now: now.value, earlier: earlier.value, usual: usual.value }).join(' ')}
    </p>
  );
};
