import { withFewArenas } from './run/few-arenas.ts';

withFewArenas();
const { startCommand } = await import('./run/start-command.ts');
await startCommand();
