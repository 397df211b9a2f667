import { useSignal } from '@preact/signals';
import { ConfirmDialog } from '../parts/dialog.tsx';
import { countText } from '../parts/texts.ts';
import { show } from '../state/notices.ts';
import { type AnyRecord, isFinished } from '../state/record-rules.ts';
import { forget, messageOf } from '../state/records.ts';
import { open } from '../state/route.ts';
import { requiredClient } from '../state/session.ts';

/** Deletes a request with its files, once it has ended. Asks first. */
export const DeleteButton = ({ record }: { record: AnyRecord }) => {
  const isAsking = useSignal(false);
  const { requestId } = record;
  const isAllowed = isFinished(record);
  const remove = async (): Promise<string | undefined> => {
    try {
      const { removedObjects } = await requiredClient().deleteRequest(requestId);
      forget(requestId);
      show(`${requestId} is deleted, with ${countText(removedObjects, 'file')}.`);
      open('requests');
      return undefined;
    } catch (error) {
      return messageOf(error);
    }
  };
  return (
    <>
      <button
        type="button"
        class="dangerous"
        aria-disabled={!isAllowed}
        onClick={() => {
          isAsking.value = isAllowed;
        }}
      >
        Delete …
      </button>{' '}
      {!isAllowed && <span class="quiet">A request can be deleted once it has ended.</span>}
      {isAsking.value && (
        <ConfirmDialog
          name="Delete a request"
          verb="Delete"
          onConfirm={remove}
          onClose={() => {
            isAsking.value = false;
          }}
        >
          <p>
            This deletes <strong>{requestId}</strong> and its files for good. What it cost is not refunded.
          </p>
        </ConfirmDialog>
      )}
    </>
  );
};
