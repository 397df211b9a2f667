import { signal, useComputed, useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { ApiError } from '../../packages/client/src/index.ts';
import type { Model, NewGeneration, NewVideo } from '../../packages/client/src/types.ts';
import { Heading, Problem } from '../parts/parts.tsx';
import { Latest } from '../requests/latest.tsx';
import { announce } from '../state/notices.ts';
import { addCreated, messageOf } from '../state/records.ts';
import { replaceQuery, route } from '../state/route.ts';
import { allowsPrivateTargets, requiredClient } from '../state/session.ts';
import { Field } from './fields.tsx';
import { bodyOf, type FormValues, messagesOf, otherMessages, shownFields } from './form-rules.ts';
import { Samples } from './samples.tsx';

/** The models that can be used now. Read once for each load of the page. */
const models = signal<readonly Model[] | undefined>(undefined);
const modelsProblem = signal<string | undefined>(undefined);

const loadModels = async (): Promise<void> => {
  try {
    models.value = await requiredClient().listModels();
    modelsProblem.value = undefined;
  } catch (error) {
    modelsProblem.value = messageOf(error);
  }
};

/** The page on which images and videos are made. */
export const MakePage = () => {
  useEffect(() => {
    if (!models.peek()) loadModels();
  }, []);
  return (
    <>
      <Heading>Make an image or a video</Heading>
      <Problem text={modelsProblem.value} />
      {models.value?.length === 0 && <p>No model can be used right now.</p>}
      {models.value && models.value.length > 0 ? (
        <Form models={models.value} />
      ) : (
        !models.value && !modelsProblem.value && <p class="quiet">Reading the models …</p>
      )}
    </>
  );
};

const Form = ({ models: offered }: { models: readonly Model[] }) => {
  const values = useSignal<FormValues>(Object.fromEntries(route.peek().query));
  const touched = useSignal<ReadonlySet<string>>(
    new Set(Object.keys(values.peek()).filter((name) => name !== 'model')),
  );
  const wasSent = useSignal(false);
  const isSending = useSignal(false);
  const problem = useSignal<string | undefined>(undefined);
  /** Errors of the service by field, until the form changes. */
  const refused = useSignal<Readonly<Record<string, string>>>({});
  const form = useRef<HTMLFormElement>(null);

  const model = useComputed(
    () => offered.find(({ id }) => id === values.value.model) ?? (offered[0] as Model),
  );
  const body = useComputed(() => bodyOf(model.value, values.value));
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

  const send = async (event: Event) => {
    event.preventDefault();
    if (isSending.value) return;
    wasSent.value = true;
    if (Object.keys(messages.value).length > 0) {
      announce('Some fields are not right yet.');
      focusFirstWrong();
      return;
    }
    isSending.value = true;
    problem.value = undefined;
    try {
      const client = requiredClient();
      const sent: unknown = body.value;
      const record =
        model.value.type === 'video'
          ? await client.createVideo(sent as NewVideo)
          : await client.createImage(sent as NewGeneration);
      addCreated(record);
      announce(`Request ${record.requestId} is accepted.`);
      wasSent.value = false;
    } catch (error) {
      problem.value = messageOf(error);
      if (error instanceof ApiError && error.fields) {
        refused.value = error.fields;
        focusFirstWrong();
      }
    } finally {
      isSending.value = false;
    }
  };

  const others = otherMessages(fields.value, shown.value);
  const path = model.value.type === 'video' ? '/v1/videos' : '/v1/generations';
  return (
    <div class="columns">
      <form ref={form} onSubmit={send} noValidate aria-label="Request">
        <div class="field">
          <label for="field-model">Model</label>
          <select
            id="field-model"
            value={model.value.id}
            onInput={(event) => set('model', event.currentTarget.value)}
          >
            {(['image', 'video'] as const).map((type) => (
              <optgroup key={type} label={type === 'image' ? 'Images' : 'Videos'}>
                {offered
                  .filter((one) => one.type === type)
                  .map(({ id }) => (
                    <option key={id} value={id}>
                      {id}
                    </option>
                  ))}
              </optgroup>
            ))}
          </select>
          <p class="hint">
            {model.value.type === 'image' ? 'Images, billed one by one.' : 'A video, billed by the second.'}
          </p>
        </div>
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
        <Problem text={problem.value} />
        {others.length > 0 && <Problem text={others.join('; ')} />}
        <button type="submit" class="primary" aria-disabled={isSending.value}>
          {model.value.type === 'image' ? 'Make images' : 'Make a video'}
        </button>
      </form>
      <div>
        <Latest />
        <Samples creation={{ baseUrl: location.origin, path, body: body.value }} />
      </div>
    </div>
  );
};
