import { useSignal } from '@preact/signals';
import { ScrollFrame } from '../parts/parts.tsx';
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
    <ScrollFrame name="Rates">
      <table>
        <thead>
          <tr>
            <th scope="col">Model</th>
            <th scope="col">Of</th>
            <th scope="col">xTokens</th>
          </tr>
        </thead>
        <tbody>
          {rates.flatMap((rate) =>
            partsOf(rate).map(({ of, xTokens, withValue }) => (
              <Row
                key={`${rate.model} ${of} ${xTokens}`}
                name={rate.model}
                of={of}
                xTokens={xTokens}
                onSet={(value) => onChange(rate.model, withValue(value))}
              />
            )),
          )}
        </tbody>
      </table>
    </ScrollFrame>
  </section>
);

interface Part {
  of: string;
  xTokens: number;
  /** The whole rate with another value here. */
  withValue: (xTokens: number) => Rate;
}

const partsOf = ({ perImage = [], perSecond = {} }: ModelRate): Part[] => [
  ...perImage.map(({ maxPixels, xTokens }, index) => ({
    of:
      maxPixels === null ? 'an image of any size' : `an image up to ${maxPixels.toLocaleString('en')} pixels`,
    xTokens,
    withValue: (value: number) => ({ perImage: perImage.with(index, { maxPixels, xTokens: value }) }),
  })),
  ...Object.entries(perSecond).map(([resolution, xTokens]) => ({
    of: `a second of ${resolution}`,
    xTokens,
    withValue: (value: number) => ({ perSecond: { ...perSecond, [resolution]: value } }),
  })),
];

interface RowProps {
  name: string;
  of: string;
  xTokens: number;
  onSet: (xTokens: number) => void;
}

const Row = ({ name, of, xTokens, onSet }: RowProps) => {
  const typed = useSignal(String(xTokens));
  const isChanged = typed.value !== String(xTokens) && Number(typed.value) >= 0 && typed.value.trim() !== '';
  return (
    <tr>
      <th scope="row">{name}</th>
      <td>{of}</td>
      <td>
        <form
          onSubmit={(event) => {
            event.preventDefault();
            if (isChanged) onSet(Number(typed.value));
          }}
        >
          <input
            type="text"
            inputMode="decimal"
            size={8}
            aria-label={`xTokens for ${of}, ${name}`}
            value={typed.value}
            onInput={(event) => {
              typed.value = event.currentTarget.value;
            }}
          />{' '}
          <button type="submit" aria-disabled={!isChanged}>
            Set
            <span class="unseen">
              {' '}
              the rate of {name} for {of}
            </span>
          </button>
        </form>
      </td>
    </tr>
  );
};
