import { type Signal, useComputed, useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { ApiError } from '../../packages/client/src/index.ts';
import type { Model, NewGeneration, NewVideo } from '../../packages/client/src/types.ts';
import { Problem } from '../parts/parts.tsx';
import { Latest, latest } from '../requests/latest.tsx';
import { cardToShow } from '../requests/request-card.tsx';
import { rateOf, readBalance, requestCost } from '../state/account.ts';
import { announce, show } from '../state/notices.ts';
import type { AnyRecord } from '../state/record-rules.ts';
import { keep } from '../state/records.ts';
import { hrefOf } from '../state/route.ts';
import { allowsPrivateTargets, requiredClient } from '../state/session.ts';
import { Field } from './fields.tsx';
import { type FormField, otherMessages } from './form-rules.ts';
import { type FormState, useForm } from './form-state.ts';
import { useGivenFiles } from './given-files.ts';
import { ModelField } from './model-field.tsx';
import { type Cost, costOf } from './price-rules.ts';
import { QuotedCost } from './quote.tsx';
import { Samples } from './samples.tsx';
import { createKeys } from './sending.ts';
import { pendingUploads } from './uploads.ts';

/** A second click is taken for part of the first until this long after the answer. */
const AFTER_MILLISECONDS = 1_000;
/** Survives the page: a creation without an answer may be sent again later. */
const keys = createKeys(() => crypto.randomUUID());

/** What the button says. */
type Sending = 'ready' | 'sending' | 'accepted';

/** The form of a request, beside what was made last and the same request as code. */
export const Form = ({ models }: { models: readonly Model[] }) => {
  const state = useForm(models);
  const { model, body, problem, shown, fields } = state;
  const form = useRef<HTMLFormElement>(null);
  const { sending, send } = useSending(state, form);
  const cost = useCost(state);
  useGivenFiles(model.value, (text) => {
    problem.value = text;
  });
  const others = otherMessages(fields.value, shown.value);
  const path = model.value.type === 'video' ? '/v1/videos' : '/v1/generations';
  return (
    <div class="maker">
      <form
        class="panel form"
        ref={form}
        onSubmit={send}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) send(event);
        }}
        noValidate
        aria-label="Request"
      >
        <ModelField models={models} model={model.value} onModel={state.setModel} />
        <Fields state={state} />
        <div class="send">
          <Problem text={problem.value} />
          {others.length > 0 && <Problem text={others.join('. ')} />}
          <SendButton model={model.value} sending={sending} />
          <QuotedCost state={state} cost={cost} />
        </div>
      </form>
      <div>
        <Latest />
        <Samples creation={{ baseUrl: location.origin, path, body: body.value }} />
      </div>
    </div>
  );
};

/** The fields of the form. Those that few requests set are folded, unless one of them holds something or is wrong. */
const Fields = ({ state }: { state: FormState }) => {
  const { model, values, shown, fields, set, leave } = state;
  const fieldOf = (field: FormField) => (
    <Field
      key={`${model.value.id} ${field.path}`}
      field={field}
      model={model.value}
      value={values.value[field.path] ?? ''}
      messages={shown.value}
      onValue={(value) => set(field.path, value)}
      onLeave={() => leave(field.path)}
    />
  );
  const rare = fields.value.filter(({ isRare }) => isRare);
  const isSet = rare.some(({ path }) => (values.value[path] ?? '') !== '' || path in shown.value);
  return (
    <>
      {fields.value.filter(({ isRare }) => !isRare).map(fieldOf)}
      <details class="more" open={isSet}>
        <summary>More settings</summary>
        {rare.map(fieldOf)}
      </details>
    </>
  );
};

/** The cost of what the form holds, also shown beside the balance. */
const useCost = ({ model, body }: FormState): Cost | undefined => {
  const cost = useComputed(() => costOf(model.value, body.value, allowsPrivateTargets, rateOf(model.value)));
  useEffect(() => {
    requestCost.value = cost.value;
    return () => {
      requestCost.value = undefined;
    };
  }, [cost.value]);
  return cost.value;
};

/** Sends what the form holds, once for any number of clicks. */
const useSending = (state: FormState, form: { current: HTMLFormElement | null }) => {
  const { model, body, messages, wasSent, problem } = state;
  const sending = useSignal<Sending>('ready');
  const focusFirstWrong = () =>
    setTimeout(() => {
      const wrong = form.current?.querySelector<HTMLElement>('[aria-invalid="true"], [data-wrong="true"]');
      (wrong?.matches('fieldset') ? wrong.querySelector('input') : wrong)?.focus();
    });
  const send = async (event: Event) => {
    event.preventDefault();
    if (sending.value !== 'ready') return;
    wasSent.value = true;
    if (isUploading(model.value.id)) {
      problem.value = 'A file is still being uploaded.';
      return;
    }
    if (Object.keys(messages.value).length > 0) {
      announce('Some fields are not right yet.');
      focusFirstWrong();
      return;
    }
    sending.value = 'sending';
    problem.value = undefined;
    try {
      accept(await create(model.value, body.value));
      wasSent.value = false;
      sending.value = 'accepted';
      setTimeout(() => {
        sending.value = 'ready';
      }, AFTER_MILLISECONDS);
    } catch (error) {
      if (error instanceof ApiError && error.status < 500) keys.answered();
      if (state.refuse(error)) focusFirstWrong();
      sending.value = 'ready';
    }
  };
  return { sending, send };
};

const isUploading = (model: string): boolean =>
  pendingUploads.value.some((one) => one.model === model && one.problem === undefined);

const SendButton = ({ model, sending }: { model: Model; sending: Signal<Sending> }) => {
  const isBusy = sending.value === 'sending';
  const texts = {
    ready: model.type === 'image' ? 'Make images' : 'Make a video',
    sending: 'Sending …',
    accepted: 'Accepted',
  };
  return (
    <button type="submit" class="primary" aria-disabled={sending.value !== 'ready'} aria-busy={isBusy}>
      {texts[sending.value]}
    </button>
  );
};

/** Sends a creation with a key of its own. Rejects with the client's errors. */
const create = async (model: Model, body: unknown): Promise<AnyRecord> => {
  const client = requiredClient();
  const options = { idempotencyKey: keys.keyFor(body) };
  const record =
    model.type === 'video'
      ? await client.createVideo(body as NewVideo, options)
      : await client.createImage(body as NewGeneration, options);
  keys.answered();
  return record;
};

/** Shows what was accepted: a notice, the card of the request in view, and the new balance. */
const accept = (record: AnyRecord): void => {
  keep(record);
  latest.addCreated(record.requestId);
  show(`Request ${record.requestId} is accepted.`, hrefOf(`requests/${record.requestId}`));
  cardToShow.value = record.requestId;
  readBalance();
};
