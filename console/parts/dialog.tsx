import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { Problem } from './parts.tsx';

interface DialogProps {
  name: string;
  onClose: () => void;
  children: ComponentChildren;
}

/** A dialog that holds the focus until it is closed. */
export const Dialog = ({ name, onClose, children }: DialogProps) => {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    dialog.current?.showModal();
  }, []);
  return (
    <dialog ref={dialog} aria-label={name} onClose={onClose}>
      <h2>{name}</h2>
      {children}
    </dialog>
  );
};

interface ConfirmDialogProps extends DialogProps {
  /** The word of the button that does it. */
  verb: string;
  /** Text to type before it is done. */
  typed?: string;
  /** Does it, and closes the dialog. Resolves to what went wrong, in words. */
  onConfirm: () => Promise<string | undefined>;
}

/** Asks before something is done that cannot be undone, or that others notice. */
export const ConfirmDialog = ({ name, verb, typed, onConfirm, onClose, children }: ConfirmDialogProps) => {
  const text = useSignal('');
  const problem = useSignal<string | undefined>(undefined);
  const isBusy = useSignal(false);
  const confirm = async (event: Event) => {
    event.preventDefault();
    if (isBusy.value) return;
    if (typed !== undefined && text.value !== typed) {
      problem.value = 'Type the address exactly as it is above.';
      return;
    }
    isBusy.value = true;
    problem.value = await onConfirm();
    isBusy.value = false;
  };
  return (
    <Dialog name={name} onClose={onClose}>
      <form onSubmit={confirm} noValidate>
        {children}
        {typed !== undefined && (
          <div class="field">
            <label for="typed-text">Type the address to confirm</label>
            <input
              id="typed-text"
              type="text"
              autoComplete="off"
              spellcheck={false}
              value={text.value}
              onInput={(event) => {
                text.value = event.currentTarget.value;
              }}
            />
          </div>
        )}
        <Problem text={problem.value} />
        <button type="submit" class="dangerous" aria-disabled={isBusy.value} aria-busy={isBusy.value}>
          {verb}
        </button>{' '}
        <button type="button" onClick={onClose}>
          Cancel
        </button>
      </form>
    </Dialog>
  );
};
