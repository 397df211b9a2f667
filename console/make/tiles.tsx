import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { dimensionsOf } from '../../core/models/image-sizes.ts';
import { type FieldProps, fieldId } from './field-parts.ts';
import { type FormField, messagesFor } from './form-rules.ts';

/** A choice of one among few. Those that are shapes have their picture. */
export const Tiles = ({ field, value, messages, onValue }: FieldProps) => (
  <TileGroup field={field} messages={messages}>
    <div class="tiles">
      {optionsOf(field, value).map((option) => (
        <Tile
          key={option}
          name={field.path}
          text={option}
          isChosen={(value || field.byDefault) === option}
          onChoose={() => onValue(option === field.byDefault ? '' : option)}
        />
      ))}
    </div>
  </TileGroup>
);

/** The presets of a size, with the custom size behind them. */
export const SizeTiles = ({ field, value, messages, onValue, onLeave }: FieldProps) => {
  const isAsked = useSignal(false);
  const isCustom = isAsked.value || (value !== '' && !field.options.includes(value));
  const id = fieldId(field.path);
  const choose = (option: string) => {
    isAsked.value = false;
    onValue(option === field.byDefault ? '' : option);
  };
  return (
    <TileGroup field={field} messages={messages} isHinted={isCustom}>
      <div class="tiles">
        {field.options.map((option) => (
          <Tile
            key={option}
            name={field.path}
            text={option}
            isChosen={!isCustom && (value || field.byDefault) === option}
            onChoose={() => choose(option)}
          />
        ))}
        <Tile
          name={field.path}
          text="Custom"
          isChosen={isCustom}
          onChoose={() => {
            isAsked.value = true;
          }}
        />
        {isCustom && (
          <input
            id={id}
            type="text"
            size={12}
            placeholder="1280x720"
            spellcheck={false}
            autoComplete="off"
            aria-label="Custom size"
            aria-describedby={`${id}-hint ${id}-message`}
            aria-invalid={messagesFor(field, messages).length > 0}
            value={field.options.includes(value) ? '' : value}
            onInput={(event) => {
              isAsked.value = true;
              onValue(event.currentTarget.value);
            }}
            onBlur={onLeave}
          />
        )}
      </div>
    </TileGroup>
  );
};

interface TileGroupProps {
  field: FormField;
  messages: Readonly<Record<string, string>>;
  isHinted?: boolean;
  children: ComponentChildren;
}

const TileGroup = ({ field, messages, isHinted = true, children }: TileGroupProps) => {
  const id = fieldId(field.path);
  const own = messagesFor(field, messages);
  return (
    <fieldset
      class="field"
      name={field.path}
      aria-describedby={`${id}-hint ${id}-message`}
      data-wrong={own.length > 0}
    >
      <legend>{field.label}</legend>
      {children}
      <p class="hint" id={`${id}-hint`}>
        {isHinted && field.hint}
      </p>
      <p class="message" id={`${id}-message`}>
        {own.map(({ text }) => text).join('. ')}
      </p>
    </fieldset>
  );
};

interface TileProps {
  name: string;
  text: string;
  isChosen: boolean;
  onChoose: () => void;
}

const Tile = ({ name, text, isChosen, onChoose }: TileProps) => (
  <label class="tile">
    <input type="radio" name={`${name}-choice`} checked={isChosen} onChange={onChoose} />
    <Shape name={text} />
    {text}
  </label>
);

/** The options, and the current value if it was chosen with another model. */
const optionsOf = ({ options }: FormField, value: string): readonly string[] =>
  value === '' || options.includes(value) ? options : [...options, value];

/** The longer side of a shape's picture. */
const LONGER_PIXELS = 26;

/** The picture of a shape; nothing for other words. */
const Shape = ({ name }: { name: string }) => {
  const ratio = ratioOf(name);
  if (ratio === undefined) return null;
  const [width, height] =
    ratio > 1 ? [LONGER_PIXELS, LONGER_PIXELS / ratio] : [LONGER_PIXELS * ratio, LONGER_PIXELS];
  const isOpen = OPEN_SHAPES.includes(name);
  return (
    <span
      class={`shape${isOpen ? ' open' : ''}`}
      style={{ width: `${width}px`, height: `${height}px` }}
      aria-hidden="true"
    />
  );
};

/** Shapes that the model chooses. */
const OPEN_SHAPES = ['auto', 'adaptive'];

const ratioOf = (name: string): number | undefined => {
  if (OPEN_SHAPES.includes(name)) return 1;
  const [, width, height] = /^(\d+):(\d+)$/.exec(name) ?? [];
  if (width !== undefined && height !== undefined) return Number(width) / Number(height);
  if (!['square', 'landscape', 'portrait'].includes(name)) return undefined;
  const shape = dimensionsOf('1K', name);
  return shape.width / shape.height;
};
