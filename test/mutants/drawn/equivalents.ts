import { ORDERS } from './equivalents/orders.ts';
import { SPARED } from './equivalents/spared.ts';
import { TIES } from './equivalents/ties.ts';

/** Drawn bugs that change nothing that the service promises, each by its name, with the reason. */
export const EQUIVALENTS: ReadonlyMap<string, string> = new Map([...TIES, ...ORDERS, ...SPARED]);
