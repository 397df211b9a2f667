import { Icon } from '../parts/icons.tsx';
import { isReused } from './drafts.ts';
import { type FieldProps, fieldId } from './field-parts.ts';
import { isOwnFile, limitsText, requestOfOutput } from './file-rules.ts';
import { type FormField, messagesFor } from './form-rules.ts';
import { draggedOver } from './given-files.ts';
import { outputNamed } from './input-files.ts';
import {
  dropUpload,
  giveFiles,
  givenFiles,
  type PendingUpload,
  pendingUploads,
  type UploadTarget,
} from './uploads.ts';

type FileFieldProps = FieldProps & { model: UploadTarget['model'] };

/** A field of one file or of several: each is chosen, dropped, pasted, or named by its URL. */
export const FileField = (props: FileFieldProps) => {
  const { field, model, value, messages, onValue } = props;
  const isList = field.control === 'files';
  const urls = value === '' ? [''] : isList ? value.split('\n') : [value];
  const own = messagesFor(field, messages);
  const id = fieldId(field.path);
  const general = own.filter(({ place }) => place === undefined);
  const set = (index: number, url: string) => onValue(urls.with(index, url.replaceAll('\n', '')).join('\n'));
  const remove = (index: number) => onValue(urls.toSpliced(index, 1).join('\n'));
  const limits = field.medium && limitsText(model.inputs?.[field.medium]);
  const hint = [`Choose, drop or paste ${isList ? 'files' : 'a file'}, or give a URL.`, field.hint, limits];
  return (
    <fieldset
      class={`field${draggedOver.value === field.path ? ' over' : ''}`}
      data-takes-file={field.path}
      aria-describedby={`${id}-hint ${id}-message`}
    >
      <legend>
        {field.label}
        {field.isRequired && <span class="required"> (required)</span>}
      </legend>
      <ol class="files">
        {urls.map((url, index) => (
          <Entry
            key={index}
            {...props}
            url={url}
            place={isList ? index + 1 : undefined}
            isWrong={general.length > 0}
            onUrl={(text) => set(index, text)}
            onRemove={() => remove(index)}
          />
        ))}
        {pendingUploads.value
          .filter((one) => one.model === model.id && one.path === field.path)
          .map((one) => (
            <Pending key={one.id} upload={one} medium={field.medium} />
          ))}
      </ol>
      {value !== '' && (
        <div class="toolbar">
          <Chooser {...props} />
          {isList && (
            <button type="button" class="quiet" onClick={() => onValue(`${urls.join('\n')}\n`)}>
              Add a URL to {field.label.toLowerCase()}
            </button>
          )}
        </div>
      )}
      <p class="hint" id={`${id}-hint`}>
        {hint.filter(Boolean).join(' ')}
      </p>
      <p class="message" id={`${id}-message`}>
        {general.map(({ text }) => text).join('. ')}
      </p>
    </fieldset>
  );
};

interface EntryProps extends FileFieldProps {
  url: string;
  /** Of a list: counted from 1. */
  place: number | undefined;
  /** Whether something is wrong with the field as a whole. */
  isWrong: boolean;
  onUrl: (url: string) => void;
  onRemove: () => void;
}

const Entry = (props: EntryProps) => {
  const { field, value, messages, url, place, isWrong, onUrl, onRemove, onLeave } = props;
  const message =
    place === undefined ? '' : (messagesFor(field, messages).find((one) => one.place === place)?.text ?? '');
  const entryId = fieldId(field.path, place);
  const label = place === undefined ? field.label : `${field.label}, URL ${place}`;
  return (
    <li>
      <div class="file">
        {url !== '' && <Preview url={url} medium={field.medium} />}
        {value === '' && <Chooser {...props} />}
        <input
          type="text"
          id={entryId}
          {...(place === undefined && { name: field.path })}
          inputMode="url"
          spellcheck={false}
          autoComplete="off"
          placeholder="https://…"
          aria-label={label}
          aria-required={field.isRequired}
          aria-invalid={message !== '' || isWrong}
          aria-describedby={`${entryId}-message ${fieldId(field.path)}-message`}
          value={url}
          onInput={(event) => onUrl(event.currentTarget.value)}
          onBlur={onLeave}
        />
        {url !== '' && (
          <button type="button" class="quiet" onClick={onRemove}>
            <Icon name="remove" />
            <span class="unseen">Remove {label}</span>
          </button>
        )}
        {url !== '' && <span class="name">{nameOf(url)}</span>}
      </div>
      {place !== undefined && (
        <p class="message" id={`${entryId}-message`}>
          {message}
        </p>
      )}
    </li>
  );
};

/** What a URL names, in words. */
const nameOf = (url: string): string => {
  const given = givenFiles.get(url);
  if (given) return given.name;
  if (isOwnFile(url))
    return requestOfOutput(url) === undefined ? 'One of your uploads' : 'One of your outputs';
  return isReused(url)
    ? 'From an earlier request: if this address was signed, give the file again.'
    : 'A file elsewhere';
};

const Preview = ({ url, medium }: { url: string; medium: FormField['medium'] }) => {
  const shown = givenFiles.get(url)?.preview ?? outputNamed(url)?.url;
  return <Thumbnail url={shown} medium={medium} />;
};

const Thumbnail = ({ url, medium }: { url: string | undefined; medium: FormField['medium'] }) => (
  <span class="preview" aria-hidden="true">
    {url !== undefined && medium === 'image' ? (
      <img src={url} alt="" />
    ) : url !== undefined && medium === 'video' ? (
      <video src={`${url}#t=0.001`} muted preload="metadata" tabIndex={-1} />
    ) : (
      <Icon name={medium ?? 'image'} />
    )}
  </span>
);

const Pending = ({ upload, medium }: { upload: PendingUpload; medium: FormField['medium'] }) => (
  <li>
    <div class="file">
      <Thumbnail url={upload.preview} medium={medium} />
      {upload.problem === undefined ? (
        <progress value={upload.sent} max={1} aria-label={`Uploading ${upload.name}`} />
      ) : (
        <p class="message" role="alert">
          {upload.problem}
        </p>
      )}
      <button type="button" class="quiet" onClick={() => dropUpload(upload.id)}>
        <Icon name="remove" />
        <span class="unseen">
          {upload.problem === undefined ? 'Stop uploading' : 'Put away'} {upload.name}
        </span>
      </button>
      <span class="name">
        {upload.name}
        {upload.problem === undefined && ` · ${Math.floor(upload.sent * 100)} %`}
      </span>
    </div>
  </li>
);

/** The button that chooses a file, or several for a list. */
const Chooser = ({ field, model, value }: FileFieldProps) => {
  const types = field.medium && (model.inputs?.[field.medium]?.types.join() ?? `${field.medium}/*`);
  return (
    <label class="button chooser">
      <Icon name="upload" />
      {field.control === 'file' && value !== '' ? 'Replace' : 'Choose a file'}
      <span class="unseen"> for {field.label}</span>
      <input
        class="unseen"
        type="file"
        accept={types}
        multiple={field.control === 'files'}
        onChange={(event) => {
          giveFiles([...(event.currentTarget.files ?? [])], { model, field });
          // The same file can be chosen again.
          event.currentTarget.value = '';
        }}
      />
    </label>
  );
};
