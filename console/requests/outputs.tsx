import { TimeLeft } from '../parts/parts.tsx';
import { now } from '../state/clock.ts';
import { type AnyRecord, isVideoId, type Output, outputsOf, statusAt } from '../state/record-rules.ts';
import { replaceUrl } from '../state/records.ts';
import { VideoPlayer } from './video-player.tsx';

/** The outputs of a request with their expiry. While there are none, what it is waiting for. */
export const Outputs = ({ record, isLarge = false }: { record: AnyRecord; isLarge?: boolean }) => {
  const status = statusAt(record, now.value);
  if (record.status === 'failed') return <p class="problem">{record.error.message}</p>;
  if (status === 'expired') return <p class="quiet">The files have expired.</p>;
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
  const { url, error, size = '', duration, resolution, expiresAt } = output;
  if (error) return <p class="problem">This output could not be stored. It is refunded.</p>;
  if (url === undefined) return <p class="quiet">Only a key of its account opens this file.</p>;
  const refused = () => replaceUrl(record.requestId, url);
  const [width, height] = size.split('x').map(Number);
  const facts = isVideoId(record.requestId) ? `${duration} s, ${resolution}` : size;
  return (
    <figure>
      {isVideoId(record.requestId) ? (
        <VideoPlayer url={url} label={record.prompt} onRefused={refused} />
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
            <a href={url} download={output.id} target="_blank" rel="noreferrer">
              Download<span class="unseen"> {output.id}</span>
            </a>
          </>
        )}
      </figcaption>
    </figure>
  );
};
