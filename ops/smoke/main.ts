import { runStoppable } from '../stoppable-program.ts';

await runStoppable(() => import('./program.ts'), {
  stopping: 'Stopping: what was made is removed first.',
  stopped: 'Stopped before everything was removed: look for an account named "npm run smoke".',
});
