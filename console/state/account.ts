import { computed, signal } from '@preact/signals';
import { GenerationServiceError } from '../../packages/client/src/index.ts';
import type { Balance, Model } from '../../packages/client/src/types.ts';
import type { Cost, Rate } from '../make/price-rules.ts';
import { listRates, OperatorError } from '../operator/operator.ts';
import { messageOf } from './records.ts';
import { accountIdOf, apiKey, operatorToken, requiredClient } from './session.ts';

/** The balance of the account in use, and its name, as they were read last. Undefined where the key may not read them. */
export const balance = signal<Balance | undefined>(undefined);
/** The name of the account in use; its id where the key may not read that. */
export const accountName = computed(() => balance.value?.account?.name ?? accountIdOf(apiKey.value ?? ''));
/** The cost of the form's request, while the form is shown and its rate is known. */
export const requestCost = signal<Cost | undefined>(undefined);
/** The models that can be used now. */
export const models = signal<readonly Model[] | undefined>(undefined);
export const modelsProblem = signal<string | undefined>(undefined);
const operatorRates = signal<ReadonlyMap<string, Rate>>(new Map());

/** Reads the balance again. The header shows what it can: pages say what is wrong. */
export const readBalance = async (): Promise<void> => {
  try {
    balance.value = await requiredClient().getBalance({ include: 'account' });
  } catch (error) {
    if (!(error instanceof GenerationServiceError)) throw error;
    balance.value = undefined;
  }
};

/** Reads the models, once for each load of the page, and their rates where there is an operator. */
export const readModels = async (): Promise<void> => {
  try {
    [models.value] = await Promise.all([requiredClient().listModels({ include: 'inputs' }), readRates()]);
    modelsProblem.value = undefined;
  } catch (error) {
    modelsProblem.value = messageOf(error);
  }
};

/** Reads the rates of the account in use, where there is an operator. When the endpoint refuses, the operator's pages say why. */
export const readRates = async (): Promise<void> => {
  if (operatorToken.peek() === undefined) return;
  const accountId = apiKey.peek() === undefined ? undefined : accountIdOf(apiKey.peek() ?? '');
  try {
    operatorRates.value = new Map((await listRates(accountId)).map((rate) => [rate.model, rate]));
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error;
  }
};

/** The rate of a model, where the page may see it: the operator's view, else what the catalog publishes. */
export const rateOf = (model: Model): Rate | undefined => operatorRates.value.get(model.id) ?? model.rate;
