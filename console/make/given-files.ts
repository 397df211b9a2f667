import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { Model } from '../../packages/client/src/types.ts';
import { contentTypeOf } from './file-rules.ts';
import { type FormField, fieldsOf } from './form-rules.ts';
import { giveFiles } from './uploads.ts';

/** The path of the field that a file is dragged over. */
export const draggedOver = signal<string | undefined>(undefined);

/** The path of the file field that an event happens in. */
const pathAt = ({ target }: Event): string | undefined =>
  target instanceof Element ? target.closest<HTMLElement>('[data-takes-file]')?.dataset.takesFile : undefined;

/** The field that gets the files of an event: the field under the pointer or focus, else the first one of the file's medium. */
const fieldFor = (model: Model, path: string | undefined, file: File): FormField | undefined => {
  const fields = fieldsOf(model).filter(({ isTaken, medium }) => isTaken && medium !== undefined);
  const medium = contentTypeOf(file).split('/')[0];
  return fields.find((field) => field.path === path) ?? fields.find((field) => field.medium === medium);
};

/** Takes files that are dropped or pasted anywhere on the page of a model's form. `onUnwanted` is told when no field takes them. */
export const useGivenFiles = (model: Model, onUnwanted: (text: string) => void): void => {
  useEffect(() => {
    const take = (event: Event, data: DataTransfer | null) => {
      draggedOver.value = undefined;
      const files = [...(data?.files ?? [])];
      if (files.length === 0) return;
      // A browser would open the file in place of the page.
      event.preventDefault();
      const field = fieldFor(model, pathAt(event), files[0] as File);
      if (field) giveFiles(files, { model, field });
      else onUnwanted(`${model.id} takes no file like ${files[0]?.name}.`);
    };
    const over = (event: DragEvent) => {
      if (!event.dataTransfer?.types.includes('Files')) return;
      event.preventDefault();
      draggedOver.value = pathAt(event);
    };
    const drop = (event: DragEvent) => take(event, event.dataTransfer);
    const paste = (event: ClipboardEvent) => take(event, event.clipboardData);
    addEventListener('dragover', over);
    addEventListener('drop', drop);
    addEventListener('paste', paste);
    return () => {
      removeEventListener('dragover', over);
      removeEventListener('drop', drop);
      removeEventListener('paste', paste);
    };
  }, [model.id]);
};
