import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { addFile, lastModel } from '../make/drafts.ts';
import { fieldsForFile, type Medium, withoutQuery } from '../make/file-rules.ts';
import { Dialog } from '../parts/dialog.tsx';
import { Icon } from '../parts/icons.tsx';
import { Problem } from '../parts/parts.tsx';
import { Skeleton } from '../parts/placeholders.tsx';
import { models, modelsProblem, readModels } from '../state/account.ts';
import { hrefOf } from '../state/route.ts';

interface UseAsInputProps {
  url: string;
  medium: Medium;
  /** The output's id, for screen readers. */
  id: string;
}

/** Puts an output into a field of a form: those of the models that take such a file. */
export const UseAsInput = ({ url, medium, id }: UseAsInputProps) => {
  const isAsking = useSignal(false);
  const close = () => {
    isAsking.value = false;
  };
  return (
    <>
      <button
        type="button"
        class="quiet"
        onClick={() => {
          isAsking.value = true;
        }}
      >
        <Icon name="use" />
        Use as input<span class="unseen"> {id}</span>
      </button>
      {isAsking.value && (
        <Dialog name="Use as input" onClose={close}>
          <Targets handle={withoutQuery(url)} medium={medium} onChosen={close} />
          <button type="button" onClick={close}>
            Cancel
          </button>
        </Dialog>
      )}
    </>
  );
};

interface TargetsProps {
  /** The output's URL without its signature. */
  handle: string;
  medium: Medium;
  onChosen: () => void;
}

/** The fields that the output fits, by model: that of the form shown last comes first. */
const Targets = ({ handle, medium, onChosen }: TargetsProps) => {
  useEffect(() => {
    if (!models.peek()) readModels();
  }, []);
  if (!models.value) return modelsProblem.value ? <Problem text={modelsProblem.value} /> : <Skeleton />;
  const fitting = models.value
    .map((model) => ({ id: model.id, fields: fieldsForFile(model, medium) }))
    .filter(({ fields }) => fields.length > 0)
    .toSorted((a, b) => Number(b.id === lastModel()) - Number(a.id === lastModel()));
  if (fitting.length === 0) return <p>No model takes such a file right now.</p>;
  return (
    <dl class="grouped">
      {fitting.map(({ id, fields }) => (
        <div key={id} class="group">
          <dt>{id}</dt>
          <dd>
            {fields.map(({ path, label, isList }) => (
              <a
                key={path}
                class="button"
                href={hrefOf('make', { model: id })}
                onClick={() => {
                  addFile(id, path, handle, isList);
                  onChosen();
                }}
              >
                {label}
                <span class="unseen"> of {id}</span>
              </a>
            ))}
          </dd>
        </div>
      ))}
    </dl>
  );
};
