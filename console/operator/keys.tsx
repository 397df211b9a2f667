import { useSignal } from '@preact/signals';
import { ConfirmDialog } from '../parts/dialog.tsx';
import { CopyButton, Problem, Time } from '../parts/parts.tsx';
import { Skeleton } from '../parts/placeholders.tsx';
import { type Column, Table } from '../parts/table.tsx';
import { show } from '../state/notices.ts';
import { apiKey, keyIdOf, signOut } from '../state/session.ts';
import { type AccountListing, createKey, type KeyListing, listKeys, revokeKey } from './operator.ts';
import { useAction, useReading } from './use-operator.ts';

interface KeysProps {
  account: AccountListing;
  /** Called after a key was created or revoked. */
  onChange: () => void;
}

/** The name of a key for people: the label, if the key has one, and the last four characters. */
const keyName = ({ label, last4 }: Pick<KeyListing, 'label' | 'last4'>): string =>
  label === '' ? `without a label, …${last4}` : `“${label}” (…${last4})`;

/** The keys of an account, to create and to revoke. */
export const Keys = ({ account, onChange }: KeysProps) => {
  const { accountId } = account;
  const keyInUse = useSignal<string | undefined>(undefined);
  const { value, problem, reload } = useReading(async () => {
    if (apiKey.peek() !== undefined) keyInUse.value = await keyIdOf(apiKey.peek() ?? '');
    return listKeys(accountId);
  }, [accountId]);
  const asked = useSignal<KeyListing | undefined>(undefined);
  const revocation = useAction();
  const revoke = (key: KeyListing): Promise<string | undefined> =>
    revocation.run(async () => {
      await revokeKey(key.keyId);
      asked.value = undefined;
      if (key.keyId === keyInUse.peek()) return signOut();
      show(`The key ${keyName(key)} is revoked.`);
      onChange();
      await reload();
    });
  const columns = columnsFor(keyInUse.value, (key) => {
    asked.value = key;
  });
  return (
    <section class="panel" aria-labelledby="keys-heading">
      <h2 id="keys-heading">Keys of {account.name}</h2>
      <CreateKey
        accountId={accountId}
        problem={problem.value}
        onCreated={async () => {
          onChange();
          await reload();
        }}
      />
      {value.value ? (
        <Table name="Keys" columns={columns} rows={value.value} keyOf={({ keyId }) => keyId} />
      ) : (
        problem.value === undefined && <Skeleton />
      )}
      {asked.value !== undefined && (
        <RevokeDialog
          of={asked.value}
          isInUse={asked.value.keyId === keyInUse.value}
          onRevoke={revoke}
          onClose={() => {
            asked.value = undefined;
          }}
        />
      )}
    </section>
  );
};

const columnsFor = (
  keyInUse: string | undefined,
  onRevoke: (key: KeyListing) => void,
): readonly Column<KeyListing>[] => [
  {
    head: 'Key',
    isName: true,
    cell: ({ keyId, last4 }) => (
      <>
        <code>{keyId}</code> …{last4} {keyId === keyInUse && <span class="badge">in use here</span>}
      </>
    ),
  },
  { head: 'Label', isLong: true, cell: ({ label }) => (label === '' ? '–' : label) },
  { head: 'Created', cell: ({ createdAt }) => <Time at={createdAt} /> },
  {
    head: 'Last used',
    cell: ({ lastUsedAt }) => (lastUsedAt === null ? 'never' : <Time at={lastUsedAt} />),
  },
  {
    head: 'Actions',
    cell: (key) =>
      key.revokedAt === null ? (
        <button type="button" class="dangerous" onClick={() => onRevoke(key)}>
          Revoke<span class="unseen"> the key {keyName(key)}</span> …
        </button>
      ) : (
        <>
          revoked <Time at={key.revokedAt} />
        </>
      ),
  },
];

interface CreateKeyProps {
  accountId: string;
  /** A problem of the list, shown after a problem of the creation. */
  problem: string | undefined;
  onCreated: () => Promise<void>;
}

/** The form that creates a key, and the created key, which is shown once. */
const CreateKey = ({ accountId, problem, onCreated }: CreateKeyProps) => {
  const created = useSignal<string | undefined>(undefined);
  const label = useSignal('');
  const creation = useAction();
  const create = (event: Event) => {
    event.preventDefault();
    creation.run(async () => {
      created.value = (await createKey(accountId, { label: label.value })).key;
      label.value = '';
      show('A key is created.');
      await onCreated();
    });
  };
  return (
    <>
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
        <button type="submit" aria-busy={creation.isBusy.value}>
          Create a key
        </button>
      </form>
      <Problem text={creation.problem.value} />
      <Problem text={problem} />
      {created.value !== undefined && (
        <p class="copied">
          <code>{created.value}</code> <CopyButton text={created.value} label="Copy the key" />{' '}
          <span class="quiet">Store it now: it is not shown again.</span>
        </p>
      )}
    </>
  );
};

interface RevokeDialogProps {
  of: KeyListing;
  isInUse: boolean;
  onRevoke: (key: KeyListing) => Promise<string | undefined>;
  onClose: () => void;
}

const RevokeDialog = ({ of: key, isInUse, onRevoke, onClose }: RevokeDialogProps) => (
  <ConfirmDialog name="Revoke a key" verb="Revoke" onConfirm={() => onRevoke(key)} onClose={onClose}>
    <p>
      Every call with the key <strong>{keyName(key)}</strong> will be refused, for good.
    </p>
    {isInUse && (
      <p class="problem">
        <strong>This console uses this key.</strong> Revoking it signs you out.
      </p>
    )}
  </ConfirmDialog>
);
