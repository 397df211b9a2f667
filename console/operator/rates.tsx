import { useSignal } from '@preact/signals';
import { ConfirmDialog } from '../parts/dialog.tsx';
import { Problem } from '../parts/parts.tsx';
import { Skeleton } from '../parts/placeholders.tsx';
import { type Column, Table } from '../parts/table.tsx';
import { readRates } from '../state/account.ts';
import { show } from '../state/notices.ts';
import { type ModelRate, setRate } from './operator.ts';
import { useAction } from './use-operator.ts';

/** A rate to set; `yes`: a person has confirmed a price above twice the former. */
export type NewRate = Pick<ModelRate, 'perImage' | 'perSecond'> & { yes?: true };

interface RatesProps {
  /** Undefined until they are read. */
  rates: readonly ModelRate[] | undefined;
  problem: string | undefined;
  /** Called with a rate that was set. */
  onChange: (rate: ModelRate) => void;
}

/** The price of each model. A row for each size or resolution. */
export const Rates = ({ rates, problem, onChange }: RatesProps) => {
  const steep = useSignal<SteepChange | undefined>(undefined);
  const set = async (model: string, rate: NewRate): Promise<void> => {
    onChange(await setRate(model, rate));
    await readRates();
    show(`The rate of ${model} is saved.`);
  };
  const save = async (model: string, part: Part, value: number): Promise<void> => {
    const rate = part.withValue(value);
    if (value <= part.xTokens * STEEPEST_FACTOR) return set(model, rate);
    steep.value = { model, part, value, confirm: () => set(model, { ...rate, yes: true }) };
  };
  const rows = (rates ?? []).flatMap((rate) =>
    rateParts(rate).map((part) => ({
      ...part,
      model: rate.model,
      onSave: (value: number) => save(rate.model, part, value),
    })),
  );
  return (
    <section class="panel" aria-labelledby="rates-heading">
      <h2 id="rates-heading">Rates</h2>
      <p class="hint">In xTokens for an image or a second. Accepted requests keep their price.</p>
      <Problem text={problem} />
      {rates ? (
        <Table
          name="Rates"
          columns={COLUMNS}
          rows={rows}
          keyOf={({ model, unit, xTokens }) => `${model} ${unit} ${xTokens}`}
        />
      ) : (
        problem === undefined && <Skeleton />
      )}
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
  confirm: () => Promise<void>;
}

const SteepDialog = ({
  change: { model, part, value, confirm },
  onClose,
}: {
  change: SteepChange;
  onClose: () => void;
}) => {
  const { run } = useAction();
  return (
    <ConfirmDialog
      name={`Set the rate of ${model}?`}
      verb="Set the rate"
      onClose={onClose}
      onConfirm={() =>
        run(async () => {
          await confirm();
          onClose();
        })
      }
    >
      <p>
        The price for {part.unit} would be {value} instead of {part.xTokens} xTokens:{' '}
        {Number((value / part.xTokens).toPrecision(3))} times as much.
      </p>
    </ConfirmDialog>
  );
};

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
  onSave: (xTokens: number) => Promise<void>;
}

const RateForm = ({ model, unit, xTokens, onSave }: Row) => {
  const typed = useSignal(String(xTokens));
  const { run, isBusy, problem } = useAction();
  const isChanged = typed.value !== String(xTokens) && Number(typed.value) >= 0 && typed.value.trim() !== '';
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (isChanged) run(() => onSave(Number(typed.value)));
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
      <button type="submit" aria-disabled={!isChanged} aria-busy={isBusy.value}>
        Save
        <span class="unseen">
          {' '}
          the rate of {model} for {unit}
        </span>
      </button>
      <Problem text={problem.value} />
    </form>
  );
};

const COLUMNS: readonly Column<Row>[] = [
  { head: 'Model', isName: true, cell: ({ model }) => model },
  { head: 'Unit', cell: ({ unit }) => unit },
  { head: 'xTokens', cell: (row) => <RateForm {...row} /> },
];
