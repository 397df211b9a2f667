import type { FieldProps } from './field-parts.ts';
import { fieldId } from './field-parts.ts';
import { FileField } from './file-field.tsx';
import { messagesFor } from './form-rules.ts';
import { SizeTiles, Tiles } from './tiles.tsx';
import type { UploadTarget } from './uploads.ts';

/** A field with its label, its hint and what is wrong with it. */
export const Field = (props: FieldProps & { model: UploadTarget['model'] }) => {
  const { field } = props;
  if (field.control === 'file' || field.control === 'files') return <FileField {...props} />;
  if (field.control === 'tiles') return <Tiles {...props} />;
  return field.control === 'sizes' ? <SizeTiles {...props} /> : <TextField {...props} />;
};

const TextField = ({ field, value, messages, onValue, onLeave }: FieldProps) => {
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
          />
          {field.label}
        </label>
      ) : (
        <label for={id}>
          {field.label}
          {field.isRequired && <span class="required"> (required)</span>}
        </label>
      )}
      {field.control === 'lines' && <textarea {...common} rows={3} value={value} onInput={onInput} />}
      {['line', 'whole'].includes(field.control) && (
        <input
          {...common}
          type="text"
          value={value}
          onInput={onInput}
          autoComplete={field.path === 'endUserEmail' ? 'email' : 'off'}
          spellcheck={false}
          {...(field.control === 'whole' && { inputMode: 'numeric' as const })}
        />
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
