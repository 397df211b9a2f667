import type { PlannedFault } from '../world/engine/faults.ts';
import type { OutageMode, Service } from '../world/engine/outages.ts';
import type { ClipKind } from '../world/upstream/clips.ts';
import type { Receiver } from '../world/upstream/receivers.ts';
import type { Behaviour, CallbackMode } from '../world/upstream/wire-formats.ts';

/** The models that are asked for; the last two are of videos. */
export const MODELS = ['xSD4.5', 'xQI3Pro', 'xZI1.0Pro', 'xSD5Pro', 'xW2.7S', 'xW3.0s'] as const;
export type ModelName = (typeof MODELS)[number];

/** The states of a generation in which a function works for it. */
export const TASKS = [
  'Dispatch request',
  'Wait for capacity',
  'Wait for provider',
  'Query provider',
  'Store outputs',
  'Settle request',
  'Fail request',
];
/** The removal of an end-user right after the end of a request. */
export interface Removal {
  /** For how long the indexes do not show what is written once the request is sent. */
  lagMs: number;
  /** When the end-user is removed, after the end, and when the reconciler runs, after that. */
  removeMs: number;
  reconcileMs: number;
  /** How the items of the request are out of order from its end on, and for how long. */
  outage: { mode: OutageMode; lengthMs: number } | undefined;
}

/** Something that a caller, a provider, an operator or time does. Numbers choose among what is there by then. */
export type Action =
  | {
      do: 'create';
      account: number;
      user: number;
      model: ModelName;
      outputs: number;
      behaviour: Behaviour;
      callback: CallbackMode;
      webhook: Receiver | undefined;
      /** The reference videos, for the model that takes them. */
      clips?: ClipKind[] | undefined;
      /** Which of a few idempotency keys goes along, if any. */
      key: number | undefined;
      /** How often it is sent again when it is not answered, and how many times at once. */
      repeats: number;
      atOnce: number;
      /** A concurrent operation on the request, its end-user or its account, and the operation's delay. */
      beside?:
        | {
            do:
              | 'block'
              | 'delete-user'
              | 'block-account'
              | 'top-up'
              | 'fail'
              | 'set-budget'
              | 'set-key-budget';
            afterMs: number;
          }
        | undefined;
      /** What goes wrong from the moment when it is sent. */
      fault?: PlannedFault | undefined;
      /** How long before its deadline its provider, which never finishes, revokes our credential. */
      revokedMs?: number | undefined;
      /** What happens once it has ended. */
      afterEnd?: Removal | undefined;
    }
  /** Equal calls of OpenAI's clients, each repeated twice; the connections of a client's attempts break after so long. */
  | {
      do: 'openai';
      account: number;
      behaviour: Behaviour;
      callback: CallbackMode;
      /** Whether the clients count their retries, and whether they send one `Idempotency-Key`. */
      counts: boolean;
      isKeyed: boolean;
      clients: { afterMs: number; lostMs: (number | undefined)[] }[];
      /** When the newest request is deleted. */
      deletedMs: number | undefined;
    }
  /** A sequence of creations by an account with enough money. */
  | { do: 'crowd'; account: number; user: number; model: ModelName; count: number; everyMs: number }
  /** `intrude`: another account tries to read and to delete it. */
  | { do: 'read' | 'delete' | 'intrude'; request: number }
  | { do: 'bulk-delete'; requests: number[] }
  | { do: 'list' | 'balance'; account: number }
  | { do: 'block' | 'unblock' | 'delete-user'; account: number; user: number }
  /** In xTokens; both null: none. */
  | { do: 'set-budget'; account: number; user: number; perDay: number | null; perMonth: number | null }
  | { do: 'set-key-budget'; account: number; perDay: number | null; perMonth: number | null }
  /** `repeats`: how often the command is given again under its idempotency key. */
  | { do: 'top-up' | 'adjust'; account: number; amount: number; repeats: number }
  | { do: 'block-account' | 'unblock-account'; account: number }
  | { do: 'abort' | 'redeliver' | 'fail' | 'retry-webhook' | 'callback' | 'forged-callback'; pick: number }
  /** Stops the next execution that enters one of the states, a moment later; `kills`: the process at work dies with it. */
  | { do: 'abort-in'; pick: number; afterMs: number; kills: boolean }
  /** Every process that is at work a moment later dies. */
  | { do: 'crash'; afterMs: number }
  /** The runs of the reconciler die a moment later, two run at once, or none is started for minutes. */
  | { do: 'reconciler'; how: 'dies' | 'runs-twice' | 'is-late'; afterMs: number }
  /** What is done next meets it. */
  | ({ do: 'fault' } & PlannedFault)
  /** Lambda takes no run of one function of the waits from now on. */
  | { do: 'throttle-function'; pick: number; lengthMs: number }
  /** The clocks of machines that start in the next minutes are ahead, or behind, by so much. */
  | { do: 'clock'; offsetMs: number; lengthMs: number }
  /** An operator leaves a route by hand, or returns to it. */
  | { do: 'leave-route' | 'return-route'; pick: number }
  /** A service is out of order from now on; of the table, the items of one request. */
  | { do: 'outage'; service: Service; mode: OutageMode; lengthMs: number; pick: number }
  | { do: 'replace-key' | 'set-limits'; account: number }
  | { do: 'set-rate' | 'switch-model'; pick: number }
  | { do: 'set-route' | 'set-running' | 'unroute' | 'set-retention' | 'redeploy'; pick: number }
  /** A secret gets a new value. The old value of a leaked secret is worthless from now on. */
  | { do: 'rotate-secret'; pick: number; isLeaked: boolean }
  /** All ledgers are verified, what is new in them or everything. */
  | { do: 'verify-ledgers'; full: boolean }
  | { do: 'reconcile' | 'sweep' | 'wait' };

/** An action, and how many milliseconds pass before the next one. */
export interface Step {
  action: Action;
  waitMs: number;
}

/** A step as a report shows it. */
export const stepText = ({ action, waitMs: wait }: Step): string => {
  const { do: what, ...how } = action;
  const details = Object.entries(how)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name} ${JSON.stringify(value)}`);
  return `${[what, ...details].join(' ')}; ${wait} ms`;
};
