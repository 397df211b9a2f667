import { runStoppable } from '../stoppable-program.ts';

await runStoppable(() => import('./program.ts'), {
  stopping: 'Stopping: the stack is destroyed first.',
  stopped: 'Stopped before the stack was destroyed.',
});
