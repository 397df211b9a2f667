import { useRef } from 'preact/hooks';
import { type FormField, messagesFor } from './form-rules.ts';

interface FieldProps {
  field: FormField;
  value: string;
  /** The messages that are shown now, by path. */
  messages: Readonly<Record<string, string>>;
  onValue: (value: string) => void;
  /** Called when the reader leaves the field. */
  onLeave: () => void;
}

const fieldId = (path: string, place?: number): string =>
  `field-${path.replace('.', '-')}${place === undefined ? '' : `-${place}`}`;

/** A field with its label, its hint and what is wrong with it. */
export const Field = (props: FieldProps) => {
  const { field, value, messages, onValue, onLeave } = props;
  if (field.control === 'urls') return <UrlList {...props} />;
  const own = messagesFor(field, messages);
  const id = fieldId(field.path);
  const common = {
    id,
    name: field.path,
    'aria-describedby': `${id}-hint ${id}-message`,
    'aria-invalid': own.length > 0,
    'aria-required': field.isRequired,
    onBlur: onLeave,
  };
  const onInput = (event: { currentTarget: { value: string } }) => onValue(event.currentTarget.value);
  return (
    <div class={`field ${field.control}`}>
      {field.control === 'check' ? (
        <label class="check">
          <input
            {...common}
            type="checkbox"
            checked={value !== ''}
            onChange={(event) => onValue(event.currentTarget.checked ? 'auto' : '')}
          />{' '}
          {field.label}
        </label>
      ) : (
        <label for={id}>
          {field.label}
          {field.isRequired && <span class="required"> (required)</span>}
        </label>
      )}
      {field.control === 'lines' && <textarea {...common} rows={3} value={value} onInput={onInput} />}
      {field.control === 'choice' && (
        <select {...common} value={value === field.byDefault ? '' : value} onInput={onInput}>
          {optionsOf(field, value).map((option) => (
            <option key={option} value={option === field.byDefault ? '' : option}>
              {option === field.byDefault ? `${option} (default)` : option}
            </option>
          ))}
        </select>
      )}
      {['line', 'suggest', 'whole'].includes(field.control) && (
        <input
          {...common}
          type="text"
          value={value}
          onInput={onInput}
          autoComplete={field.path === 'endUserEmail' ? 'email' : 'off'}
          spellcheck={false}
          {...(field.control === 'whole' && { inputMode: 'numeric' as const })}
          {...(field.control === 'suggest' && { list: `${id}-options` })}
        />
      )}
      {field.control === 'suggest' && (
        <datalist id={`${id}-options`}>
          {field.options.map((option) => (
            <option key={option} value={option} />
          ))}
        </datalist>
      )}
      <p class="hint" id={`${id}-hint`}>
        {field.hint}
      </p>
      <p class="message" id={`${id}-message`}>
        {own.map(({ text }) => text).join('. ')}
      </p>
    </div>
  );
};

/** The options, and the current value if it was chosen with another model. */
const optionsOf = ({ options }: FormField, value: string): readonly string[] =>
  value === '' || options.includes(value) ? options : [...options, value];

/** A list of URLs: an input for each, with its error, and a button to add one. */
const UrlList = ({ field, value, messages, onValue, onLeave }: FieldProps) => {
  const list = useRef<HTMLFieldSetElement>(null);
  const urls = value === '' ? [''] : value.split('\n');
  const own = messagesFor(field, messages);
  const set = (index: number, url: string) => onValue(urls.with(index, url.replaceAll('\n', '')).join('\n'));
  const add = () => {
    onValue(`${urls.join('\n')}\n`);
    requestAnimationFrame(() =>
      list.current?.querySelector<HTMLInputElement>('li:last-child input')?.focus(),
    );
  };
  const id = fieldId(field.path);
  const general = own.filter(({ place }) => place === undefined);
  return (
    <fieldset class="field urls" ref={list} aria-describedby={`${id}-hint ${id}-message`}>
      <legend>{field.label}</legend>
      <p class="hint" id={`${id}-hint`}>
        {field.hint}
      </p>
      <ol>
        {urls.map((url, index) => {
          const message = own.find(({ place }) => place === index + 1)?.text ?? '';
          const entryId = fieldId(field.path, index + 1);
          return (
            <li key={index}>
              <input
                type="text"
                id={entryId}
                inputMode="url"
                spellcheck={false}
                autoComplete="off"
                aria-label={`${field.label}, URL ${index + 1}`}
                aria-invalid={message !== '' || general.length > 0}
                aria-describedby={`${entryId}-message ${id}-message`}
                value={url}
                onInput={(event) => set(index, event.currentTarget.value)}
                onBlur={onLeave}
              />
              <p class="message" id={`${entryId}-message`}>
                {message}
              </p>
            </li>
          );
        })}
      </ol>
      <button type="button" class="quiet" onClick={add}>
        Add a URL to {field.label.toLowerCase()}
      </button>
      <p class="message" id={`${id}-message`}>
        {general.map(({ text }) => text).join('. ')}
      </p>
    </fieldset>
  );
};
