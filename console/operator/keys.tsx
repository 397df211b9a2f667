import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { ConfirmDialog } from '../parts/dialog.tsx';
import { CopyButton, Time } from '../parts/parts.tsx';
import { type Column, Table } from '../parts/table.tsx';
import { show } from '../state/notices.ts';
import { apiKey, keyIdOf, signOut } from '../state/session.ts';
import {
  type AccountListing,
  createKey,
  type KeyListing,
  listKeys,
  OperatorError,
  revokeKey,
} from './operator.ts';

interface KeysProps {
  account: AccountListing;
  /** Does something that the endpoint may refuse, and shows why. */
  attempt: (work: () => Promise<void>) => Promise<void>;
}

/** The keys of an account, to create and to revoke. */
export const Keys = ({ account, attempt }: KeysProps) => {
  const { accountId } = account;
  const keys = useSignal<readonly KeyListing[]>([]);
  const created = useSignal<string | undefined>(undefined);
  const label = useSignal('');
  const asked = useSignal<string | undefined>(undefined);
  const keyInUse = useSignal<string | undefined>(undefined);
  const read = async () => {
    keys.value = await listKeys(accountId);
    if (apiKey.peek() !== undefined) keyInUse.value = await keyIdOf(apiKey.peek() ?? '');
  };
  useEffect(() => {
    attempt(read);
  }, [accountId]);

  const create = (event: Event) => {
    event.preventDefault();
    attempt(async () => {
      created.value = (await createKey(accountId, { label: label.value })).key;
      label.value = '';
      show('A key is created.');
      await read();
    });
  };
  const revoke = async (keyId: string): Promise<string | undefined> => {
    try {
      await revokeKey(keyId);
    } catch (error) {
      if (error instanceof OperatorError) return error.message;
      throw error;
    }
    asked.value = undefined;
    if (keyId === keyInUse.peek()) signOut();
    else {
      show(`The key ${keyId} is revoked.`);
      await attempt(read);
    }
    return undefined;
  };
  const columns: readonly Column<KeyListing>[] = [
    {
      head: 'Key',
      isName: true,
      cell: ({ keyId, last4 }) => (
        <>
          <code>{keyId}</code> …{last4} {keyId === keyInUse.value && <span class="badge">in use here</span>}
        </>
      ),
    },
    { head: 'Label', isLong: true, cell: ({ label: text }) => (text === '' ? '–' : text) },
    { head: 'Created', cell: ({ createdAt }) => <Time at={createdAt} /> },
    {
      head: 'Last used',
      cell: ({ lastUsedAt }) => (lastUsedAt === null ? 'never' : <Time at={lastUsedAt} />),
    },
    {
      head: 'Actions',
      cell: ({ keyId, revokedAt }) =>
        revokedAt === null ? (
          <button
            type="button"
            class="dangerous"
            onClick={() => {
              asked.value = keyId;
            }}
          >
            Revoke<span class="unseen"> {keyId}</span> …
          </button>
        ) : (
          <>
            revoked <Time at={revokedAt} />
          </>
        ),
    },
  ];
  return (
    <section aria-labelledby="keys-heading">
      <h2 id="keys-heading">Keys of {account.name}</h2>
      <form class="filters" onSubmit={create}>
        <label>
          Label{' '}
          <input
            type="text"
            value={label.value}
            onInput={(event) => {
              label.value = event.currentTarget.value;
            }}
          />
        </label>
        <button type="submit">Create a key</button>
      </form>
      {created.value !== undefined && (
        <p class="copied">
          <code>{created.value}</code> <CopyButton text={created.value} label="Copy the key" />{' '}
          <span class="quiet">Store it now: it is not shown again.</span>
        </p>
      )}
      <Table name="Keys" columns={columns} rows={keys.value} keyOf={({ keyId }) => keyId} />
      {asked.value !== undefined && (
        <RevokeDialog
          keyId={asked.value}
          isInUse={asked.value === keyInUse.value}
          onRevoke={revoke}
          onClose={() => {
            asked.value = undefined;
          }}
        />
      )}
    </section>
  );
};

interface RevokeDialogProps {
  keyId: string;
  isInUse: boolean;
  onRevoke: (keyId: string) => Promise<string | undefined>;
  onClose: () => void;
}

const RevokeDialog = ({ keyId, isInUse, onRevoke, onClose }: RevokeDialogProps) => (
  <ConfirmDialog name="Revoke a key" verb="Revoke" onConfirm={() => onRevoke(keyId)} onClose={onClose}>
    <p>
      Every call with the key <code>{keyId}</code> will be refused, for good.
    </p>
    {isInUse && (
      <p class="problem">
        <strong>This console uses this key.</strong> Revoking it signs you out.
      </p>
    )}
  </ConfirmDialog>
);
