import { useComputed, useSignal } from '@preact/signals';
import { useLayoutEffect } from 'preact/hooks';
import { ApiError } from '../../packages/client/src/index.ts';
import type { Model } from '../../packages/client/src/types.ts';
import { messageOf } from '../state/records.ts';
import { hrefOf, replaceQuery, route } from '../state/route.ts';
import { allowsPrivateTargets } from '../state/session.ts';
import { givenIn } from './draft-rules.ts';
import { changeModel, draftOf, lastModel, openDraft, setDraft } from './drafts.ts';
import { bodyOf, messagesOf, shownFields } from './form-rules.ts';
import { fileMessages } from './input-files.ts';

/** The model in the address, else the one whose form was shown last, else the first. */
const modelAsked = (offered: readonly Model[]): Model => {
  const asked = route.value.query.get('model') ?? lastModel();
  return offered.find(({ id }) => id === asked) ?? (offered[0] as Model);
};

/** Puts what the form holds into the address, so that it can be sent. */
const mirror = (model: string): void => {
  const query = { model, ...draftOf(model) };
  if (location.hash !== hrefOf('make', query)) replaceQuery('make', query);
};

/** Opens the draft that the address asks for, with the values that the address gives. */
const openAsked = (offered: readonly Model[]): void => {
  if (route.value.page !== 'make') return;
  const asked = modelAsked(offered);
  const given = givenIn(route.value.query);
  openDraft(asked.id, given);
  if (given !== undefined || Object.keys(draftOf(asked.id)).length > 0) mirror(asked.id);
};

/** The state of the form: what it holds is the draft of its model, which the address can change at any time. */
export const useForm = (offered: readonly Model[]) => {
  const touched = useSignal<ReadonlySet<string>>(new Set());
  const wasSent = useSignal(false);
  const problem = useSignal<string | undefined>(undefined);
  /** Errors of the service by field, until the form changes. */
  const refused = useSignal<Readonly<Record<string, string>>>({});
  const model = useComputed(() => offered.find(({ id }) => id === lastModel()) ?? modelAsked(offered));
  const values = useComputed(() => draftOf(model.value.id));
  const body = useComputed(() => bodyOf(model.value, values.value));
  const messages = useComputed(() => ({
    ...messagesOf(model.value, body.value, allowsPrivateTargets),
    ...fileMessages(model.value, values.value),
  }));
  const fields = useComputed(() => shownFields(model.value, values.value));
  /** Of fields that the reader has been at, or all once it was sent. */
  const shown = useComputed(() => {
    const own = Object.entries(messages.value).filter(([name]) => {
      const path = name.replace(/\[\d+\]$/, '');
      return wasSent.value || touched.value.has(path) || (values.value[path] ?? '') !== '';
    });
    return { ...refused.value, ...Object.fromEntries(own) };
  });
  const forgetRefusal = () => {
    refused.value = {};
    problem.value = undefined;
  };
  useLayoutEffect(() => openAsked(offered), [route.value]);
  useLayoutEffect(() => {
    forgetRefusal();
    wasSent.value = false;
  }, [model.value.id]);

  return {
    ...{ model, values, body, messages, fields, shown, wasSent, problem },
    set: (path: string, value: string) => {
      setDraft(model.value.id, { ...values.value, [path]: value });
      forgetRefusal();
      mirror(model.value.id);
    },
    setModel: (id: string) => {
      changeModel(model.value, offered.find((one) => one.id === id) ?? model.value);
      mirror(id);
    },
    leave: (path: string) => {
      if ((values.value[path] ?? '') !== '') touched.value = new Set([...touched.value, path]);
    },
    /** Shows why the service did not accept it. Whether it names fields. */
    refuse: (error: unknown): boolean => {
      problem.value = messageOf(error);
      if (!(error instanceof ApiError) || !error.fields) return false;
      refused.value = error.fields;
      return true;
    },
  };
};

/** The state of the form. */
export type FormState = ReturnType<typeof useForm>;
