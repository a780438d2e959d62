"""Metrics of one resample, given as how often each cluster was drawn.

Conventions: ``n`` groups in falling order of their scores; ``cluster[i]`` is the cluster of
group i, ``count[c]`` how often cluster c was drawn, so ``count[cluster[i]]`` is what group i
weighs; ``ends_tie[i]`` is whether the next score is smaller. ``tp`` and ``fp`` are the weights
of positives and negatives so far. All but precisions is counted in integers, so exact.
"""

from numba import njit

from groupcm.kernels import FLAGS


@njit(nogil=True, cache=True, fastmath=FLAGS)
def count_draws(draws, count):
    """``count[c] = #{draws equal to c}``."""
    count[:] = 0
    for cluster in draws:
        count[cluster] += 1


@njit(nogil=True, cache=True, fastmath=FLAGS)
def twice_the_pairs_in_order(cluster, is_positive, ends_tie, count):
    """``Σ_ties Δfp (tp before + tp after) = 2 #{s+ > s-} + #{s+ = s-}``."""
    tp = fp = tp_before = fp_before = twice = 0
    for i in range(len(cluster)):
        weight = count[cluster[i]]
        if is_positive[i]:
            tp += weight
        else:
            fp += weight
        if ends_tie[i]:
            twice += (fp - fp_before) * (tp_before + tp)
            tp_before = tp
            fp_before = fp
    return twice


@njit(nogil=True, cache=True, fastmath=FLAGS)
def summed_precision(cluster, is_positive, ends_tie, count):
    """``Σ_ties Δtp · tp / (tp + fp)``."""
    tp = fp = tp_before = 0
    total = 0.0
    for i in range(len(cluster)):
        weight = count[cluster[i]]
        if is_positive[i]:
            tp += weight
        else:
            fp += weight
        if ends_tie[i]:
            if tp > tp_before:
                total += (tp - tp_before) * (tp / (tp + fp))
            tp_before = tp
    return total


@njit(nogil=True, cache=True, fastmath=FLAGS)
def positives_within(cluster, is_positive, ends_tie, count, most_fp, out):
    """``out[j] = max { tp at an end of a tie : fp <= most_fp[j] }``; ``most_fp`` rises."""
    tp = fp = tp_before = j = 0
    for i in range(len(cluster)):
        weight = count[cluster[i]]
        if is_positive[i]:
            tp += weight
        else:
            fp += weight
        if ends_tie[i]:
            while j < len(most_fp) and fp > most_fp[j]:
                out[j] = tp_before
                j += 1
            if j == len(most_fp):
                return
            tp_before = tp
    out[j:] = tp


@njit(nogil=True, cache=True, fastmath=FLAGS)
def area_within(cluster, is_positive, ends_tie, count, most_fp):
    """``∫ tp d fp`` from 0 to ``most_fp``, between the ends of ties by straight lines."""
    tp = fp = tp_before = fp_before = 0
    area = 0.0
    for i in range(len(cluster)):
        weight = count[cluster[i]]
        if is_positive[i]:
            tp += weight
        else:
            fp += weight
        if ends_tie[i]:
            if fp >= most_fp and fp > fp_before:
                width = most_fp - fp_before
                tp_there = tp_before + (tp - tp_before) * width / (fp - fp_before)
                return area + width * (tp_before + tp_there) / 2.0
            area += (fp - fp_before) * (tp_before + tp) / 2.0
            tp_before = tp
            fp_before = fp
    return area
