import { SFNClient } from '@aws-sdk/client-sfn';
import { clientOptions } from '../aws-clients.ts';

/** The Step Functions client. */
export const stepFunctions = new SFNClient(clientOptions('stepFunctions'));
