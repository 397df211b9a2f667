import { type Signal, useComputed, useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { ApiError } from '../../packages/client/src/index.ts';
import type { Model, NewGeneration, NewVideo } from '../../packages/client/src/types.ts';
import { Heading, Problem } from '../parts/parts.tsx';
import { Latest, latest } from '../requests/latest.tsx';
import { cardToShow } from '../requests/request-card.tsx';
import { models, modelsProblem, rateOf, readBalance, readModels, requestCost } from '../state/account.ts';
import { announce, show } from '../state/notices.ts';
import type { AnyRecord } from '../state/record-rules.ts';
import { keep, messageOf } from '../state/records.ts';
import { hrefOf, replaceQuery, route } from '../state/route.ts';
import { allowsPrivateTargets, requiredClient } from '../state/session.ts';
import { Field } from './fields.tsx';
import { bodyOf, type FormValues, messagesOf, otherMessages, shownFields } from './form-rules.ts';
import { ModelField } from './model-field.tsx';
import { costOf, costText } from './price-rules.ts';
import { Samples } from './samples.tsx';
import { createKeys } from './sending.ts';

/** The page on which images and videos are made. */
export const MakePage = () => {
  useEffect(() => {
    if (!models.peek()) readModels();
  }, []);
  return (
    <>
      <Heading>Make an image or a video</Heading>
      <Problem text={modelsProblem.value} />
      {models.value?.length === 0 && <p>No model can be used right now.</p>}
      {models.value && models.value.length > 0 ? (
        <Form models={models.value} />
      ) : (
        !models.value && !modelsProblem.value && <p class="quiet">Loading the models …</p>
      )}
    </>
  );
};

/** A second click is taken for part of the first until this long after the answer. */
const AFTER_MILLISECONDS = 1_000;
/** Survives the page: a creation without an answer may be sent again later. */
const keys = createKeys(() => crypto.randomUUID());

/** What the button says. */
type Sending = 'ready' | 'sending' | 'accepted';

const Form = ({ models: offered }: { models: readonly Model[] }) => {
  const values = useSignal<FormValues>(Object.fromEntries(route.peek().query));
  const touched = useSignal<ReadonlySet<string>>(
    new Set(Object.keys(values.peek()).filter((name) => name !== 'model')),
  );
  const wasSent = useSignal(false);
  const sending = useSignal<Sending>('ready');
  const problem = useSignal<string | undefined>(undefined);
  /** Errors of the service by field, until the form changes. */
  const refused = useSignal<Readonly<Record<string, string>>>({});
  const form = useRef<HTMLFormElement>(null);

  const model = useComputed(
    () => offered.find(({ id }) => id === values.value.model) ?? (offered[0] as Model),
  );
  const body = useComputed(() => bodyOf(model.value, values.value));
  const cost = useComputed(() => costOf(model.value, body.value, allowsPrivateTargets, rateOf(model.value)));
  useEffect(() => {
    requestCost.value = cost.value;
    return () => {
      requestCost.value = undefined;
    };
  }, [cost.value]);
  const messages = useComputed(() => messagesOf(model.value, body.value, allowsPrivateTargets));
  const fields = useComputed(() => shownFields(model.value, values.value));
  /** Of fields that the reader has been at, or all once it was sent. */
  const shown = useComputed(() => {
    const own = Object.entries(messages.value).filter(([name]) => {
      if (wasSent.value) return true;
      const path = name.replace(/\[\d+\]$/, '');
      return touched.value.has(path) || (values.value[path] ?? '') !== '';
    });
    return { ...refused.value, ...Object.fromEntries(own) };
  });

  const set = (path: string, value: string) => {
    values.value = { ...values.value, [path]: value };
    refused.value = {};
    problem.value = undefined;
    replaceQuery('make', values.value);
  };
  const leave = (path: string) => {
    if ((values.value[path] ?? '') !== '') touched.value = new Set([...touched.value, path]);
  };
  const focusFirstWrong = () =>
    setTimeout(() => form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus());

  const refuse = (error: unknown) => {
    problem.value = messageOf(error);
    if (error instanceof ApiError && error.status < 500) keys.answered();
    if (error instanceof ApiError && error.fields) {
      refused.value = error.fields;
      focusFirstWrong();
    }
    sending.value = 'ready';
  };
  const send = async (event: Event) => {
    event.preventDefault();
    if (sending.value !== 'ready') return;
    wasSent.value = true;
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
      refuse(error);
    }
  };

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
        <ModelField models={offered} model={model.value} onModel={(id) => set('model', id)} />
        {fields.value.map((field) => (
          <Field
            key={field.path}
            field={field}
            value={values.value[field.path] ?? ''}
            messages={shown.value}
            onValue={(value) => set(field.path, value)}
            onLeave={() => leave(field.path)}
          />
        ))}
        <div class="send">
          <Problem text={problem.value} />
          {others.length > 0 && <Problem text={others.join('. ')} />}
          <SendButton model={model.value} sending={sending} />
          <span class="quiet">{cost.value && `Costs ${costText(cost.value)}. `}Ctrl+Enter sends, too.</span>
        </div>
      </form>
      <div>
        <Latest />
        <Samples creation={{ baseUrl: location.origin, path, body: body.value }} />
      </div>
    </div>
  );
};

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
