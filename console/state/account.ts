import { signal } from '@preact/signals';
import { GenerationServiceError } from '../../packages/client/src/index.ts';
import type { Balance, Model } from '../../packages/client/src/types.ts';
import type { Cost, Rate } from '../make/price-rules.ts';
import { listRates, OperatorError, readAccount } from '../operator/operator.ts';
import { messageOf } from './records.ts';
import { accountIdOf, apiKey, operatorToken, requiredClient } from './session.ts';

/** The balance of the account in use, as it was read last. Undefined where the key may not read it. */
export const balance = signal<Balance | undefined>(undefined);
/** The name of the account in use, which only operators may read; else its id. */
export const accountName = signal<string | undefined>(undefined);
/** The cost of the form's request, while the form is shown and its rate is known. */
export const requestCost = signal<Cost | undefined>(undefined);
/** The models that can be used now. */
export const models = signal<readonly Model[] | undefined>(undefined);
export const modelsProblem = signal<string | undefined>(undefined);
const operatorRates = signal<ReadonlyMap<string, Rate>>(new Map());

/** Reads the balance again. The header shows what it can: pages say what is wrong. */
export const readBalance = async (): Promise<void> => {
  try {
    balance.value = await requiredClient().getBalance();
  } catch (error) {
    if (!(error instanceof GenerationServiceError)) throw error;
    balance.value = undefined;
  }
};

/** Reads the models, once for each load of the page, and their rates where there is an operator. */
export const readModels = async (): Promise<void> => {
  try {
    [models.value] = await Promise.all([requiredClient().listModels(), readRates()]);
    modelsProblem.value = undefined;
  } catch (error) {
    modelsProblem.value = messageOf(error);
  }
};

/** Reads the rates of the account in use, as an operator sees them. */
export const readRates = async (): Promise<void> => {
  const accountId = apiKey.value === undefined ? undefined : accountIdOf(apiKey.value);
  const rates = await forOperator(() => listRates(accountId));
  if (rates) operatorRates.value = new Map(rates.map((rate) => [rate.model, rate]));
};

/** Reads the name of the account in use. */
export const readAccountName = async (): Promise<void> => {
  const accountId = apiKey.value === undefined ? undefined : accountIdOf(apiKey.value);
  accountName.value = accountId;
  if (accountId === undefined) return;
  const account = await forOperator(() => readAccount(accountId));
  if (account) accountName.value = account.name;
};

/** The answer to an operator. Undefined for others, and when the endpoint refuses: the operator's pages say why. */
const forOperator = async <T>(read: () => Promise<T>): Promise<T | undefined> => {
  if (operatorToken.peek() === undefined) return undefined;
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error;
    return undefined;
  }
};

/** The rate of a model, where the page may see it: the operator's view, else what the catalog publishes. */
export const rateOf = (model: Model): Rate | undefined => operatorRates.value.get(model.id) ?? model.rate;
