import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import { type FormValues, fieldsOf, valuesOf } from '../make/form-rules.ts';
import { Icon } from '../parts/icons.tsx';
import { CopyButton, Time } from '../parts/parts.tsx';
import { capitalized, xTokensText } from '../parts/texts.ts';
import { models, readModels } from '../state/account.ts';
import { type AnyRecord, lossText } from '../state/record-rules.ts';
import { hrefOf } from '../state/route.ts';
import { Outputs } from './outputs.tsx';

/** What was asked, and what came of it. */
export const Summary = ({ record }: { record: AnyRecord }) => {
  const loss = lossText(record);
  const model = models.value?.find(({ id }) => id === record.model);
  const labels = new Map(
    (model ? fieldsOf(model) : []).map(({ path, label }) => [path.split('.')[0], label]),
  );
  return (
    <>
      {record.status === 'failed' && (
        <p class="problem">
          <strong>{record.error.code}</strong>: {record.error.message} It is refunded in full.
        </p>
      )}
      <div class="copied asked">
        <p class="prompt">{record.prompt}</p> <CopyButton text={record.prompt} label="Copy the prompt" />
      </div>
      {record.status !== 'failed' && <Outputs record={record} isLarge />}
      <dl class="summary panel">
        {loss !== undefined && <Fact name="Outputs">{loss}</Fact>}
        <Fact name="Model">{record.model}</Fact>
        <Fact name="End-user">{record.endUserEmail}</Fact>
        <Fact name="Created">
          <Time at={record.createdAt} />
        </Fact>
        {'finishedAt' in record && (
          <Fact name="Finished">
            <Time at={record.finishedAt} />
          </Fact>
        )}
        {'cost' in record && <Fact name="Cost">{xTokensText(record.cost)} xTokens</Fact>}
        {Object.entries(record.input ?? {}).map(([name, value]) => {
          const text = inputText(value);
          return (
            text !== '' && (
              <Fact key={name} name={capitalized(labels.get(name) ?? name)}>
                {text}
              </Fact>
            )
          );
        })}
      </dl>
    </>
  );
};

const Fact = ({ name, children }: { name: string; children: ComponentChildren }) => (
  <div>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </div>
);

/** What was given for a field; empty where nothing was. */
const inputText = (value: unknown): string => {
  if (Array.isArray(value)) return value.join(', ');
  return typeof value === 'object' ? Object.values(value ?? {}).join(', ') : String(value);
};

/** The link to the form, filled in as this request was. */
export const Reuse = ({ record }: { record: AnyRecord }) => {
  useEffect(() => {
    if (!models.peek()) readModels();
  }, []);
  const { model: id, prompt, endUserEmail, input } = record;
  const model = models.value?.find((one) => one.id === id);
  if (models.value && !model) return <span class="quiet">Its model is not available any more.</span>;
  const body = { ...input, prompt, endUserEmail };
  const values: FormValues = model ? valuesOf(model, body) : { model: id, prompt, endUserEmail };
  return (
    <a class="button primary" href={hrefOf('make', { ...values, reused: '1' })}>
      <Icon name="again" />
      Reuse these settings
    </a>
  );
};
