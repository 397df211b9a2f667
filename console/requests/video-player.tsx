import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';

interface VideoPlayerProps {
  url: string;
  label: string;
  /** Called when the files' host refuses the URL. */
  onRefused: () => void;
}

/** A video. Once in view, the player loads enough of the video to show the first frame as a poster. */
export const VideoPlayer = ({ url, label, onRefused }: VideoPlayerProps) => {
  const video = useRef<HTMLVideoElement>(null);
  const isInView = useSignal(false);
  useEffect(() => {
    const observer = new IntersectionObserver((entries) => {
      if (!entries.some(({ isIntersecting }) => isIntersecting)) return;
      isInView.value = true;
      observer.disconnect();
    });
    if (video.current) observer.observe(video.current);
    return () => observer.disconnect();
  }, []);
  return (
    // biome-ignore lint/a11y/useMediaCaption: what models make has no words to caption
    <video
      ref={video}
      // Safari shows a frame only of a time that is asked for.
      src={`${url}#t=0.001`}
      controls
      playsInline
      preload={isInView.value ? 'metadata' : 'none'}
      aria-label={label}
      onError={onRefused}
    />
  );
};
