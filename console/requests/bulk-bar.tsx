import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { ConfirmDialog } from '../parts/dialog.tsx';
import { Icon } from '../parts/icons.tsx';
import { Problem } from '../parts/parts.tsx';
import { countText } from '../parts/texts.ts';
import { show } from '../state/notices.ts';
import { isFinished } from '../state/record-rules.ts';
import { forget, messageOf, recordOf } from '../state/records.ts';
import { requiredClient } from '../state/session.ts';
import { downloadAll, downloading } from './downloads.ts';
import { selection, selectOnly } from './selection.ts';

/** What can be done with all requests that are selected. Nothing while none is. */
export const BulkBar = () => {
  const isAsking = useSignal(false);
  const problem = useSignal<string | undefined>(undefined);
  const ids = [...selection.value].filter((id) => recordOf(id));
  useEffect(() => {
    const clear = (event: KeyboardEvent) => {
      if (event.key === 'Escape' && !document.querySelector('dialog')) selectOnly([]);
    };
    addEventListener('keydown', clear);
    return () => {
      removeEventListener('keydown', clear);
      selectOnly([]);
    };
  }, []);
  if (ids.length === 0) return null;
  const download = async (isArchive: boolean) => {
    problem.value = await downloadAll(ids, isArchive);
  };
  const under = downloading.value;
  return (
    <section class="bulk toolbar" aria-label="Selected requests">
      <strong>{ids.length} selected</strong>
      <button type="button" aria-busy={under !== undefined} onClick={() => under ?? download(true)}>
        <Icon name="download" />
        {under ? `File ${under.done + 1} of ${under.all}` : 'Download as ZIP'}
      </button>
      <button type="button" onClick={() => under ?? download(false)}>
        One by one
      </button>
      <button
        type="button"
        class="dangerous"
        onClick={() => {
          isAsking.value = true;
        }}
      >
        <Icon name="trash" />
        Delete …
      </button>
      <button type="button" class="quiet" onClick={() => selectOnly([])}>
        Clear
      </button>
      <Problem text={problem.value} />
      {isAsking.value && (
        <DeleteDialog
          ids={ids}
          onClose={() => {
            isAsking.value = false;
          }}
        />
      )}
    </section>
  );
};

const DeleteDialog = ({ ids, onClose }: { ids: readonly string[]; onClose: () => void }) => {
  const finished = ids.filter((id) => isFinished(recordOf(id) ?? { status: '' }));
  const left = ids.length - finished.length;
  const remove = async (): Promise<string | undefined> => {
    try {
      const { conflicts, removedObjects } = await requiredClient().deleteRequests(finished);
      const gone = finished.filter((id) => !conflicts.includes(id));
      show(`${countText(gone.length, 'request')} deleted, with ${countText(removedObjects, 'file')}.`);
      onClose();
      selectOnly(ids.filter((id) => !gone.includes(id)));
      gone.forEach(forget);
      return undefined;
    } catch (error) {
      return messageOf(error);
    }
  };
  return (
    <ConfirmDialog name="Delete requests" verb="Delete" onConfirm={remove} onClose={onClose}>
      <p>
        This deletes <strong>{countText(finished.length, 'request')}</strong> with their files for good. What
        they cost is not refunded.
      </p>
      {left > 0 && <p class="quiet">{countText(left, 'request')} cannot be deleted yet: still under way.</p>}
    </ConfirmDialog>
  );
};
