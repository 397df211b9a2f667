import { useSignal } from '@preact/signals';
import { ConfirmDialog } from '../parts/dialog.tsx';
import { type Column, Table } from '../parts/table.tsx';
import type { ModelRate } from './operator.ts';

/** A rate to set; `yes`: a person has confirmed a price above twice the former. */
export type NewRate = Pick<ModelRate, 'perImage' | 'perSecond'> & { yes?: true };

interface RatesProps {
  rates: readonly ModelRate[];
  onChange: (model: string, rate: NewRate) => void;
}

/** The price of each model. A row for each size or resolution. */
export const Rates = ({ rates, onChange }: RatesProps) => {
  const steep = useSignal<SteepChange | undefined>(undefined);
  const save = (model: string, part: Part, value: number) => {
    const rate = part.withValue(value);
    if (value <= part.xTokens * STEEPEST_FACTOR) onChange(model, rate);
    else steep.value = { model, part, value, confirm: () => onChange(model, { ...rate, yes: true }) };
  };
  return (
    <section aria-labelledby="rates-heading">
      <h2 id="rates-heading">Rates</h2>
      <p class="hint">In xTokens for an image or a second. Accepted requests keep their price.</p>
      <Table
        name="Rates"
        columns={COLUMNS}
        rows={rates.flatMap((rate) =>
          rateParts(rate).map((part) => ({
            ...part,
            model: rate.model,
            onSave: (value: number) => save(rate.model, part, value),
          })),
        )}
        keyOf={({ model, unit, xTokens }) => `${model} ${unit} ${xTokens}`}
      />
      {steep.value && (
        <SteepDialog
          change={steep.value}
          onClose={() => {
            steep.value = undefined;
          }}
        />
      )}
    </section>
  );
};

/** The operators' command line asks beyond the same factor. */
const STEEPEST_FACTOR = 2;

/** A price that becomes more than twice the former, before it is confirmed. */
interface SteepChange {
  model: string;
  part: Part;
  value: number;
  confirm: () => void;
}

const SteepDialog = ({
  change: { model, part, value, confirm },
  onClose,
}: {
  change: SteepChange;
  onClose: () => void;
}) => (
  <ConfirmDialog
    name={`Set the rate of ${model}?`}
    verb="Set the rate"
    onClose={onClose}
    onConfirm={async () => {
      confirm();
      onClose();
      return undefined;
    }}
  >
    <p>
      The price for {part.unit} would be {value} instead of {part.xTokens} xTokens:{' '}
      {Number((value / part.xTokens).toPrecision(3))} times as much.
    </p>
  </ConfirmDialog>
);

interface Part {
  unit: string;
  xTokens: number;
  /** The whole rate with another value here. */
  withValue: (xTokens: number) => NewRate;
}

const rateParts = ({ perImage = [], perSecond = {} }: ModelRate): Part[] => [
  ...perImage.map(({ maxPixels, xTokens }, index) => ({
    unit:
      maxPixels === null ? 'an image of any size' : `an image up to ${maxPixels.toLocaleString('en')} pixels`,
    xTokens,
    withValue: (value: number) => ({ perImage: perImage.with(index, { maxPixels, xTokens: value }) }),
  })),
  ...Object.entries(perSecond).map(([resolution, xTokens]) => ({
    unit: `a second of ${resolution}`,
    xTokens,
    withValue: (value: number) => ({ perSecond: { ...perSecond, [resolution]: value } }),
  })),
];

interface Row extends Part {
  model: string;
  onSave: (xTokens: number) => void;
}

const RateForm = ({ model, unit, xTokens, onSave }: Row) => {
  const typed = useSignal(String(xTokens));
  const isChanged = typed.value !== String(xTokens) && Number(typed.value) >= 0 && typed.value.trim() !== '';
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (isChanged) onSave(Number(typed.value));
      }}
    >
      <input
        type="text"
        inputMode="decimal"
        size={8}
        aria-label={`xTokens for ${unit}, ${model}`}
        value={typed.value}
        onInput={(event) => {
          typed.value = event.currentTarget.value;
        }}
      />{' '}
      <button type="submit" aria-disabled={!isChanged}>
        Save
        <span class="unseen">
          {' '}
          the rate of {model} for {unit}
        </span>
      </button>
    </form>
  );
};

const COLUMNS: readonly Column<Row>[] = [
  { head: 'Model', isName: true, cell: ({ model }) => model },
  { head: 'Unit', cell: ({ unit }) => unit },
  { head: 'xTokens', cell: (row) => <RateForm {...row} /> },
];
