import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { NewQuote, Quote } from '../../packages/client/src/types.ts';
import { announce } from '../state/notices.ts';
import { requiredClient } from '../state/session.ts';
import type { FormState } from './form-state.ts';
import { type Cost, costText, quoteText } from './price-rules.ts';

/** The cost of what the form holds: as its rate says, or by a button as the service does, reference videos measured, until the form changes. */
export const QuotedCost = ({ state, cost }: { state: FormState; cost: Cost | undefined }) => {
  const { model, body, messages, wasSent } = state;
  const quote = useSignal<Quote | undefined>(undefined);
  const isAsking = useSignal(false);
  useEffect(() => {
    quote.value = undefined;
  }, [body.value]);
  const ask = async () => {
    if (isAsking.value) return;
    wasSent.value = true;
    if (Object.keys(messages.value).length > 0) {
      announce('Some fields are not right yet.');
      return;
    }
    isAsking.value = true;
    const asked = body.value;
    try {
      const found = await requiredClient().quote({ kind: model.value.type, ...asked } as unknown as NewQuote);
      if (body.value !== asked) return;
      quote.value = found;
      announce(quoteText(found));
    } catch (error) {
      if (body.value === asked) state.refuse(error);
    } finally {
      isAsking.value = false;
    }
  };
  const said = quote.value ? quoteText(quote.value) : cost && `Costs ${costText(cost)}.`;
  return (
    <>
      <span class="quiet">{said && `${said} `}Ctrl+Enter sends, too.</span>
      {model.value.rate && (
        <button type="button" class="quiet" onClick={ask} aria-busy={isAsking.value}>
          Check the cost
        </button>
      )}
    </>
  );
};
