import { TimeLeft } from '../parts/parts.tsx';
import { now } from '../state/clock.ts';
import { type AnyRecord, isVideoId, type Output, outputsOf, statusAt } from '../state/record-rules.ts';
import { replaceUrl } from '../state/records.ts';

/** The outputs of a request with their expiry. While there are none, what it is waiting for. */
export const Outputs = ({ record, isLarge = false }: { record: AnyRecord; isLarge?: boolean }) => {
  const status = statusAt(record, now.value);
  if (record.status === 'failed') return <p class="problem">{record.error.message}</p>;
  if (status === 'expired') return <p class="quiet">Its files are gone.</p>;
  const outputs = outputsOf(record);
  if (outputs.length === 0) return <div class="pending" aria-hidden="true" />;
  return (
    <ul class={`outputs${isLarge ? ' large' : ''}`}>
      {outputs.map((output) => (
        <li key={output.id}>
          <OutputView record={record} output={output} isLarge={isLarge} />
        </li>
      ))}
    </ul>
  );
};

interface OutputViewProps {
  record: AnyRecord;
  output: Output;
  isLarge: boolean;
}

const OutputView = ({ record, output, isLarge }: OutputViewProps) => {
  const { url, size = '', duration, resolution, expiresAt } = output;
  if (url === undefined) return <p class="problem">This output could not be stored. It is refunded.</p>;
  const refused = () => replaceUrl(record.requestId, url);
  const [width, height] = size.split('x').map(Number);
  const facts = isVideoId(record.requestId) ? `${duration} s, ${resolution}` : size;
  return (
    <figure>
      {isVideoId(record.requestId) ? (
        // biome-ignore lint/a11y/useMediaCaption: what models make has no words to caption
        <video src={url} controls preload="none" aria-label={record.prompt} onError={refused} />
      ) : (
        <img
          src={url}
          alt={record.prompt}
          width={width}
          height={height}
          loading={isLarge ? 'eager' : 'lazy'}
          decoding="async"
          onError={refused}
        />
      )}
      <figcaption>
        {facts} · <TimeLeft until={expiresAt} />
        {isLarge && (
          <>
            {' '}
            ·{' '}
            <a href={url} download rel="noreferrer">
              Open the file
            </a>
          </>
        )}
      </figcaption>
    </figure>
  );
};
