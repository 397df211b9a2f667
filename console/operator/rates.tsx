import { useSignal } from '@preact/signals';
import { type Column, Table } from '../parts/table.tsx';
import type { ModelRate } from './operator.ts';

type Rate = Pick<ModelRate, 'perImage' | 'perSecond'>;

interface RatesProps {
  rates: readonly ModelRate[];
  onChange: (model: string, rate: Rate) => void;
}

/** The price of each model. A row for each size or resolution. */
export const Rates = ({ rates, onChange }: RatesProps) => (
  <section aria-labelledby="rates-heading">
    <h2 id="rates-heading">Rates</h2>
    <p class="hint">In xTokens for an image or a second. Accepted requests keep their price.</p>
    <Table
      name="Rates"
      columns={COLUMNS}
      rows={rates.flatMap((rate) =>
        partsOf(rate).map((part) => ({
          ...part,
          model: rate.model,
          onSave: (value: number) => onChange(rate.model, part.withValue(value)),
        })),
      )}
      keyOf={({ model, unit, xTokens }) => `${model} ${unit} ${xTokens}`}
    />
  </section>
);

interface Part {
  unit: string;
  xTokens: number;
  /** The whole rate with another value here. */
  withValue: (xTokens: number) => Rate;
}

const partsOf = ({ perImage = [], perSecond = {} }: ModelRate): Part[] => [
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
