import { COVERED } from './verdict.ts';
import type { Checklist } from './verdict.ts';

/** controller-runtime v0.25: owner references and finalizers. */
export const controllerRuntimeUtilities: Checklist = {
  'pkg/controller/controllerutil/controllerutil_test.go': {
    'Controllerutil/SetOwnerReference/should set ownerRef on an empty list': {
      skipped: "only controllers own here: there is no reference that is not the controller's",
    },
    'Controllerutil/SetOwnerReference/should set the BlockOwnerDeletion if it is specified as an option': {
      skipped: "only controllers own here: there is no reference that is not the controller's",
    },
    'Controllerutil/SetOwnerReference/should not duplicate owner references': {
      skipped: "only controllers own here: there is no reference that is not the controller's",
    },
    'Controllerutil/SetOwnerReference/should update the reference': {
      skipped: "only controllers own here: there is no reference that is not the controller's",
    },
    'Controllerutil/SetOwnerReference/should remove the owner reference': {
      skipped: "only controllers own here: there is no reference that is not the controller's",
    },
    'Controllerutil/SetOwnerReference/should remove the owner reference established by the SetControllerReference function':
      { skipped: "only controllers own here: there is no reference that is not the controller's" },
    "Controllerutil/SetOwnerReference/should error when trying to remove the reference that doesn't exist": {
      skipped: "only controllers own here: there is no reference that is not the controller's",
    },
    "Controllerutil/SetOwnerReference/should error when trying to remove the reference that doesn't abide by the scheme":
      { skipped: "Go's generic types and schemes have no counterpart" },
    'Controllerutil/SetOwnerReference/should error when trying to remove the owner when setting the owner as a non runtime.Object':
      { skipped: "Go's generic types and schemes have no counterpart" },
    "Controllerutil/SetOwnerReference/should error when trying to remove an owner that doesn't exist": {
      skipped: "only controllers own here: there is no reference that is not the controller's",
    },
    'Controllerutil/SetOwnerReference/should return true when HasControllerReference evaluates owner reference set by SetControllerReference':
      { skipped: "only controllers own here: there is no reference that is not the controller's" },
    'Controllerutil/SetOwnerReference/should return false when HasControllerReference evaluates owner reference set by SetOwnerReference':
      { skipped: "only controllers own here: there is no reference that is not the controller's" },
    "Controllerutil/SetOwnerReference/should error when RemoveControllerReference owner's controller is set to false": {
      skipped: "only controllers own here: there is no reference that is not the controller's",
    },
    'Controllerutil/SetOwnerReference/should error when RemoveControllerReference passed in owner is not the owner': {
      skipped: "only controllers own here: there is no reference that is not the controller's",
    },
    "Controllerutil/SetOwnerReference/should not error when RemoveControllerReference owner's controller is set to true":
      { skipped: "only controllers own here: there is no reference that is not the controller's" },
    'Controllerutil/SetControllerReference/should set the OwnerReference if it can find the group version kind':
      COVERED,
    "Controllerutil/SetControllerReference/should return an error if it can't find the group version kind of the owner":
      { skipped: "Go's generic types and schemes have no counterpart" },
    "Controllerutil/SetControllerReference/should return an error if the owner isn't a runtime.Object": {
      skipped: "Go's generic types and schemes have no counterpart",
    },
    'Controllerutil/SetControllerReference/should return an error if object is already owned by another controller':
      COVERED,
    'Controllerutil/SetControllerReference/should not duplicate existing owner reference': COVERED,
    "Controllerutil/SetControllerReference/should replace the owner reference if it's already present": COVERED,
    "Controllerutil/SetControllerReference/should return an error if it's setting a cross-namespace owner reference":
      COVERED,
    "Controllerutil/SetControllerReference/should return an error if it's owner is namespaced resource but dependant is cluster-scoped resource":
      COVERED,
    'Controllerutil/SetControllerReference/should not return any error if the existing owner has a different version':
      COVERED,
    'Controllerutil/SetControllerReference/should set the BlockOwnerDeletion if it is specified as an option': COVERED,
    "Controllerutil/CreateOrUpdate/creates a new object if one doesn't exists": {
      skipped: 'writes are server-side applies: create, update and patch are one request without a read before',
    },
    'Controllerutil/CreateOrUpdate/updates existing object': {
      skipped: 'writes are server-side applies: create, update and patch are one request without a read before',
    },
    'Controllerutil/CreateOrUpdate/updates only changed objects': {
      skipped: 'writes are server-side applies: create, update and patch are one request without a read before',
    },
    'Controllerutil/CreateOrUpdate/errors when MutateFn changes object name on creation': {
      skipped: 'writes are server-side applies: create, update and patch are one request without a read before',
    },
    'Controllerutil/CreateOrUpdate/errors when MutateFn renames an object': {
      skipped: 'writes are server-side applies: create, update and patch are one request without a read before',
    },
    'Controllerutil/CreateOrUpdate/errors when object namespace changes': {
      skipped: 'writes are server-side applies: create, update and patch are one request without a read before',
    },
    'Controllerutil/CreateOrUpdate/aborts immediately if there was an error initially retrieving the object': {
      skipped: 'writes are server-side applies: create, update and patch are one request without a read before',
    },
    "Controllerutil/CreateOrPatch/creates a new object if one doesn't exists": {
      skipped: 'writes are server-side applies: create, update and patch are one request without a read before',
    },
    'Controllerutil/CreateOrPatch/patches existing object': {
      skipped: 'writes are server-side applies: create, update and patch are one request without a read before',
    },
    'Controllerutil/CreateOrPatch/patches only changed objects': {
      skipped: 'writes are server-side applies: create, update and patch are one request without a read before',
    },
    'Controllerutil/CreateOrPatch/patches only changed status': {
      skipped: 'writes are server-side applies: create, update and patch are one request without a read before',
    },
    'Controllerutil/CreateOrPatch/patches resource and status': {
      skipped: 'writes are server-side applies: create, update and patch are one request without a read before',
    },
    'Controllerutil/CreateOrPatch/patches resource and not empty status': {
      skipped: 'writes are server-side applies: create, update and patch are one request without a read before',
    },
    'Controllerutil/CreateOrPatch/errors when MutateFn changes object name on creation': {
      skipped: 'writes are server-side applies: create, update and patch are one request without a read before',
    },
    'Controllerutil/CreateOrPatch/errors when MutateFn renames an object': {
      skipped: 'writes are server-side applies: create, update and patch are one request without a read before',
    },
    'Controllerutil/CreateOrPatch/errors when object namespace changes': {
      skipped: 'writes are server-side applies: create, update and patch are one request without a read before',
    },
    'Controllerutil/CreateOrPatch/aborts immediately if there was an error initially retrieving the object': {
      skipped: 'writes are server-side applies: create, update and patch are one request without a read before',
    },
    'Controllerutil/Finalizers/AddFinalizer/should add the finalizer when not present': COVERED,
    'Controllerutil/Finalizers/AddFinalizer/should not add the finalizer when already present': COVERED,
    'Controllerutil/Finalizers/RemoveFinalizer/should remove finalizer if present': COVERED,
    'Controllerutil/Finalizers/RemoveFinalizer/should remove all equal finalizers if present': COVERED,
    "Controllerutil/Finalizers/AddFinalizer/the object's list of finalizers has no instances of the input finalizer/should return true":
      COVERED,
    "Controllerutil/Finalizers/AddFinalizer/the object's list of finalizers has no instances of the input finalizer/should add the input finalizer to the object's list of finalizers":
      COVERED,
    "Controllerutil/Finalizers/AddFinalizer/the object's list of finalizers has an instance of the input finalizer/should return false":
      COVERED,
    "Controllerutil/Finalizers/AddFinalizer/the object's list of finalizers has an instance of the input finalizer/should not modify the object's list of finalizers":
      COVERED,
    "Controllerutil/Finalizers/RemoveFinalizer/the object's list of finalizers has no instances of the input finalizer/should return false":
      COVERED,
    "Controllerutil/Finalizers/RemoveFinalizer/the object's list of finalizers has no instances of the input finalizer/should not modify the object's list of finalizers":
      COVERED,
    "Controllerutil/Finalizers/RemoveFinalizer/the object's list of finalizers has one instance of the input finalizer/should return true":
      COVERED,
    "Controllerutil/Finalizers/RemoveFinalizer/the object's list of finalizers has one instance of the input finalizer/should remove the instance of the input finalizer from the object's list of finalizers":
      COVERED,
    "Controllerutil/Finalizers/RemoveFinalizer/the object's list of finalizers has multiple instances of the input finalizer/should return true":
      COVERED,
    "Controllerutil/Finalizers/RemoveFinalizer/the object's list of finalizers has multiple instances of the input finalizer/should remove each instance of the input finalizer from the object's list of finalizers":
      COVERED,
    'Controllerutil/Finalizers/ContainsFinalizer/should check that finalizer is present': COVERED,
    'Controllerutil/Finalizers/ContainsFinalizer/should check that finalizer is not present after RemoveFinalizer call':
      COVERED,
    'Controllerutil/Finalizers/HasOwnerReference/should return true if the object has the owner reference': {
      skipped: 'whether an object is owned is read from its ownerReferences by UID, through the index',
    },
    'Controllerutil/Finalizers/HasOwnerReference/should return false if the object does not have the owner reference': {
      skipped: 'whether an object is owned is read from its ownerReferences by UID, through the index',
    },
  },
};
