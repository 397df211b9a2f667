import type { CSSProperties } from 'preact';
import { Icon } from '../parts/icons.tsx';
import { TimeLeft } from '../parts/parts.tsx';
import { now } from '../state/clock.ts';
import { type AnyRecord, isVideoId, type Output, outputsOf, statusAt } from '../state/record-rules.ts';
import { replaceUrl } from '../state/records.ts';
import { ratioOf, ratioOfOutput } from './gallery-rules.ts';
import { UseAsInput } from './use-as-input.tsx';
import { VideoPlayer } from './video-player.tsx';

interface OutputsProps {
  record: AnyRecord;
  /** On the page of the request, with its facts; else in a list. */
  isLarge?: boolean;
}

/** The outputs of a request in their own ratio. While there are none, a place of the ratio that was asked for. */
export const Outputs = ({ record, isLarge = false }: OutputsProps) => {
  const status = statusAt(record, now.value);
  if (record.status === 'failed') return <p class="problem">{record.error.message}</p>;
  if (status === 'expired') return <p class="quiet">The files have expired.</p>;
  const outputs = outputsOf(record);
  if (outputs.length === 0)
    return <div class="pending" style={{ aspectRatio: String(ratioOf(record)) }} aria-hidden="true" />;
  return (
    <ul class={`outputs${isLarge ? ' large' : ''}`}>
      {outputs.map((output) => (
        <li key={output.id} style={{ '--ratio': ratioOfOutput(record, output) } as CSSProperties}>
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
  const isVideo = isVideoId(record.requestId);
  return (
    <figure>
      <Picture record={record} output={output} url={url} isLarge={isLarge} />
      <figcaption class="toolbar">
        {isLarge && (
          <span>
            {isVideo ? `${duration} s, ${resolution}` : size} · <TimeLeft until={expiresAt} />
          </span>
        )}
        <UseAsInput url={url} medium={isVideo ? 'video' : 'image'} id={output.id} />
        {isLarge && (
          <a class="button quiet" href={url} download={output.id} target="_blank" rel="noreferrer">
            <Icon name="download" />
            Download<span class="unseen"> {output.id}</span>
          </a>
        )}
      </figcaption>
    </figure>
  );
};

const Picture = ({ record, output, url, isLarge }: OutputViewProps & { url: string }) => {
  const refused = () => replaceUrl(record.requestId, url);
  if (isVideoId(record.requestId)) return <VideoPlayer url={url} label={record.prompt} onRefused={refused} />;
  const [width, height] = (output.size ?? '').split('x').map(Number);
  return (
    <img
      src={url}
      alt={record.prompt}
      width={width}
      height={height}
      loading={isLarge ? 'eager' : 'lazy'}
      decoding="async"
      onError={refused}
    />
  );
};
