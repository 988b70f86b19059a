"""What a person is likely to type next, learnt from what they typed: lines, their habits, and a mixture of both."""
