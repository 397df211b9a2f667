import { useEffect } from 'preact/hooks';
import { Heading, Problem } from '../parts/parts.tsx';
import { Empty, Skeleton } from '../parts/placeholders.tsx';
import { models, modelsProblem, readModels } from '../state/account.ts';
import { Form } from './form.tsx';

/** The page on which images and videos are made. */
export const MakePage = () => {
  useEffect(() => {
    if (!models.peek()) readModels();
  }, []);
  return (
    <>
      <Heading>Make an image or a video</Heading>
      <Problem text={modelsProblem.value} />
      {models.value?.length === 0 && (
        <Empty icon="make">
          <p>No model can be used right now. Your operator switches them on.</p>
        </Empty>
      )}
      {models.value && models.value.length > 0 ? (
        <Form models={models.value} />
      ) : (
        !models.value &&
        !modelsProblem.value && (
          <div class="panel">
            <Skeleton lines={6} />
          </div>
        )
      )}
    </>
  );
};
