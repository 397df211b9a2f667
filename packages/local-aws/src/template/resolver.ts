import { type Template, TemplateError, type TemplateResource } from './assembly.ts';
import {
  ACCOUNT_ID,
  attributeOf,
  isKnownLater,
  nameProperty,
  PARTITION,
  physicalName,
  REGION,
  referenceOf,
  stableText,
  URL_SUFFIX,
} from './attributes.ts';

/** The answer of a custom resource's function, or the attributes of a function URL. */
export interface CustomResourceState {
  physicalResourceId: string;
  data: Record<string, unknown>;
}

/** A resource of the template whose condition holds. */
export interface StackResource {
  logicalId: string;
  type: string;
  /** Unresolved properties. */
  properties: Record<string, unknown>;
  definition: TemplateResource;
}

/** Evaluates the template's intrinsic functions. */
export interface Resolver {
  /** The resources whose condition holds, of these types if any are given, in the template's order. */
  resources(...types: string[]): StackResource[];
  /** The value with every intrinsic function evaluated. Throws `TemplateError` where one cannot be evaluated (yet). */
  resolve(value: unknown): unknown;
  /** `resolve` for text. Numbers and booleans become text, as in CloudFormation. Throws `TemplateError` for anything else. */
  text(value: unknown): string;
  /** The physical name of a resource. */
  nameOf(logicalId: string): string;
  /** The value of `Ref`. */
  reference(logicalId: string): string;
  /** The value of `Fn::GetAtt`. */
  attribute(logicalId: string, attribute: string): unknown;
}

const NO_VALUE = Symbol('AWS::NoValue');

type Intrinsics = Record<string, (argument: unknown) => unknown>;

/** The resolver of `createResolver`: a method for each intrinsic function. */
class TemplateResolver implements Resolver {
  private readonly template: Template;
  private readonly customResources: ReadonlyMap<string, CustomResourceState>;
  private readonly pseudoParameters: Record<string, unknown>;
  private readonly intrinsics: Intrinsics;

  constructor(
    template: Template,
    stackName: string,
    customResources: ReadonlyMap<string, CustomResourceState>,
  ) {
    this.template = template;
    this.customResources = customResources;
    this.pseudoParameters = {
      'AWS::AccountId': ACCOUNT_ID,
      'AWS::NoValue': NO_VALUE,
      'AWS::NotificationARNs': [],
      'AWS::Partition': PARTITION,
      'AWS::Region': REGION,
      'AWS::StackId': `arn:${PARTITION}:cloudformation:${REGION}:${ACCOUNT_ID}:stack/${stackName}/${stableText(stackName, 12)}`,
      'AWS::StackName': stackName,
      'AWS::URLSuffix': URL_SUFFIX,
    };
    this.intrinsics = {
      Ref: (argument) => this.ref(String(argument)),
      Condition: (argument) => this.holds(String(argument)),
      'Fn::GetAtt': this.getAtt,
      'Fn::Join': (argument) => {
        const [separator, values] = argument as [string, unknown];
        return this.list(values).map(String).join(separator);
      },
      'Fn::Sub': this.substitute,
      'Fn::Select': this.select,
      'Fn::Split': (argument) => {
        const [separator, value] = argument as [string, unknown];
        return this.text(value).split(separator);
      },
      'Fn::FindInMap': this.findInMap,
      'Fn::If': (argument) => {
        const [condition, whenTrue, whenFalse] = argument as [string, unknown, unknown];
        return this.resolveValue(this.holds(condition) ? whenTrue : whenFalse);
      },
      'Fn::Equals': (argument) => {
        const [left, right] = this.list(argument);
        return String(left) === String(right);
      },
      'Fn::And': (argument) => (argument as unknown[]).every(this.holds),
      'Fn::Or': (argument) => (argument as unknown[]).some(this.holds),
      'Fn::Not': (argument) => !(argument as unknown[]).every(this.holds),
    };
  }

  private definitionOf(logicalId: string): TemplateResource {
    const definition = this.template.Resources[logicalId];
    if (!definition || !this.isMade(definition)) {
      throw new TemplateError(`The template has no resource ${logicalId}`);
    }
    return definition;
  }

  private customResource(logicalId: string): CustomResourceState {
    const state = this.customResources.get(logicalId);
    if (!state) throw new TemplateError(`${logicalId} has not been made yet`);
    return state;
  }

  nameOf(logicalId: string): string {
    const definition = this.definitionOf(logicalId);
    const property = nameProperty(definition);
    return physicalName(
      logicalId,
      definition,
      property && this.resolveValue(definition.Properties?.[property]),
    );
  }

  reference(logicalId: string): string {
    const definition = this.definitionOf(logicalId);
    if (isKnownLater(definition)) return this.customResource(logicalId).physicalResourceId;
    return referenceOf({ logicalId, name: this.nameOf(logicalId) }, definition);
  }

  attribute(logicalId: string, name: string): unknown {
    const definition = this.definitionOf(logicalId);
    if (!isKnownLater(definition))
      return attributeOf({ logicalId, name: this.nameOf(logicalId) }, definition, name);
    const { data } = this.customResource(logicalId);
    if (!Object.hasOwn(data, name)) {
      throw new TemplateError(`${logicalId} (${definition.Type}) answered no attribute ${name}`);
    }
    return data[name];
  }

  private ref(name: string): unknown {
    if (Object.hasOwn(this.pseudoParameters, name)) return this.pseudoParameters[name];
    const parameter = this.template.Parameters?.[name];
    return parameter ? parameter.Default : this.reference(name);
  }

  private readonly getAtt = (argument: unknown): unknown => {
    const [logicalId, ...path] = Array.isArray(argument) ? argument : String(argument).split('.');
    return this.attribute(String(logicalId), this.text(path.join('.')));
  };

  private readonly substitute = (argument: unknown): string => {
    const [pattern, variables] = Array.isArray(argument) ? argument : [argument, {}];
    return String(pattern).replace(/\$\{(!?)([^}]*)\}/g, (_whole, literal: string, name: string) => {
      if (literal) return `\${${name}}`;
      const key = name.trim();
      if (Object.hasOwn(variables as object, key))
        return this.text((variables as Record<string, unknown>)[key]);
      return String(key.includes('.') ? this.getAtt(key) : this.ref(key));
    });
  };

  private list(value: unknown): unknown[] {
    const resolved = this.resolveValue(value);
    if (!Array.isArray(resolved)) throw new TemplateError(`Expected a list: ${JSON.stringify(value)}`);
    return resolved;
  }

  private readonly select = (argument: unknown): unknown => {
    const [index, values] = argument as [unknown, unknown];
    const chosen = this.list(values)[Number(this.text(index))];
    if (chosen === undefined)
      throw new TemplateError(`Fn::Select outside its list: ${JSON.stringify(argument)}`);
    return chosen;
  };

  private readonly findInMap = (argument: unknown): unknown => {
    const [map, first, second] = this.list(argument).map(String);
    const found = this.template.Mappings?.[map ?? '']?.[first ?? '']?.[second ?? ''];
    if (found === undefined)
      throw new TemplateError(`Fn::FindInMap finds nothing: ${JSON.stringify(argument)}`);
    return found;
  };

  private readonly holds = (condition: unknown): boolean => {
    if (typeof condition === 'string') {
      const named = this.template.Conditions?.[condition];
      if (named === undefined) throw new TemplateError(`The template has no condition ${condition}`);
      return this.resolveValue(named) === true;
    }
    return this.resolveValue(condition) === true;
  };

  /** Like `resolve`, but keeps `AWS::NoValue` so that the enclosing value can omit it. */
  private readonly resolveValue = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(this.resolveValue).filter((item) => item !== NO_VALUE);
    if (typeof value !== 'object' || value === null) return value;
    const entries = Object.entries(value);
    const [only] = entries;
    if (only && entries.length === 1) {
      const [name, argument] = only;
      // `Condition` is an intrinsic function only inside conditions, where its argument is a name.
      const intrinsic =
        name !== 'Condition' || typeof argument === 'string' ? this.intrinsics[name] : undefined;
      if (intrinsic) return intrinsic(argument);
      if (name.startsWith('Fn::')) throw new TemplateError(`The local run does not know ${name}`);
    }
    return Object.fromEntries(
      entries
        .map(([key, item]) => [key, this.resolveValue(item)] as const)
        .filter(([, item]) => item !== NO_VALUE),
    );
  };

  resolve(value: unknown): unknown {
    const resolved = this.resolveValue(value);
    return resolved === NO_VALUE ? undefined : resolved;
  }

  text(value: unknown): string {
    const resolved = this.resolve(value);
    if (typeof resolved === 'string' || typeof resolved === 'number' || typeof resolved === 'boolean') {
      return String(resolved);
    }
    throw new TemplateError(`Expected text: ${JSON.stringify(value)}`);
  }

  private isMade(definition: TemplateResource): boolean {
    return definition.Condition === undefined || this.holds(definition.Condition);
  }

  resources(...types: string[]): StackResource[] {
    return Object.entries(this.template.Resources)
      .filter(([, definition]) => types.length === 0 || types.includes(definition.Type))
      .filter(([, definition]) => this.isMade(definition))
      .map(([logicalId, definition]) => ({
        logicalId,
        type: definition.Type,
        properties: definition.Properties ?? {},
        definition,
      }));
  }
}

/** A resolver for `template`. `customResources` is read at each use, so it may be filled later. */
export const createResolver = (
  template: Template,
  stackName: string,
  customResources: ReadonlyMap<string, CustomResourceState>,
): Resolver => new TemplateResolver(template, stackName, customResources);
